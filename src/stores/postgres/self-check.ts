import type { Readers } from './readers.ts';
import type { Statement } from './session.ts';

/**
 * Rows that nothing leads to: no trajectory, no entry, no transaction. And what the server itself knows to be wrong: pages whose checksum was
 * not theirs when they were read, indexes that lack rows.
 */
export function prepareSelfCheck(readers: Readers, schema: string): () => Promise<string[]> {
  const unbegun = (table: string): string => `(SELECT count(*) FROM "${schema}".${table} AS x
        WHERE NOT EXISTS (SELECT FROM "${schema}".effect_transaction AS t WHERE t.epoch = x.epoch))`;
  const statement: Statement = {
    text: `SELECT
      (SELECT count(*) FROM "${schema}".entry AS e
        WHERE NOT EXISTS (SELECT FROM "${schema}".trajectory AS t WHERE t.key = e.trajectory)),
      (SELECT count(*) FROM "${schema}".trajectory AS t
        WHERE NOT EXISTS (SELECT FROM "${schema}".entry AS e WHERE e.trajectory = t.key)),
      (SELECT count(*) FROM "${schema}".log AS l
        WHERE NOT EXISTS (SELECT FROM "${schema}".entry AS e WHERE e.position = l.entry)),
      ${unbegun('effect_record')},
      (SELECT count(*) FROM (
        SELECT FROM "${schema}".effect_record GROUP BY epoch HAVING count(*) <> max(place) + 1) AS x),
      ${unbegun('effect_key')},
      ${unbegun('effect_open')},
      (SELECT abs(count(*) - 1) FROM "${schema}".effect_tenure),
      (SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()),
      (SELECT count(*) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE c.relnamespace = $1::regnamespace AND NOT (i.indisvalid AND i.indisready))`,
  };
  return async () => {
    const [row] = await readers.run(statement, [schema]);
    return row!.flatMap((count, index) => (Number(count) === 0 ? [] : [`${count} ${FINDINGS[index]}`]));
  };
}

/** After their number, in the order of the columns. */
const FINDINGS: readonly string[] = [
  'entries belong to no trajectory',
  'trajectories have a name and no entries',
  'places of the log have lost their entries',
  'records of the effect log belong to no transaction',
  'transactions have gaps in the effect log',
  'keys of effects belong to no transaction',
  'transactions are open and were never begun',
  'fences are missing or too many',
  'pages of the database had another checksum than theirs',
  'indexes are not whole',
];
