import { OCCURRENCES_MAX, OPEN_END, OPEN_START } from 'assize/internal/memory';
import type { Row } from './connection/driver.ts';
import type { Readers } from './connection/readers.ts';
import type { Statement } from './connection/session.ts';
import { catalogueValues, READ_CATALOGUE, schemaFaults } from './schema/check-schema.ts';

/**
 * Reports rows that no reference leads to: without trajectory, entry, transaction or partition. It
 * also reports partitions that differ from their rows, texts that differ from the facts, and
 * vectors that cannot be compared.
 *
 * It adds the server's own findings: pages that failed their checksum when they were read, and
 * indexes that lack rows.
 */
export function prepareSelfCheck(readers: Readers, schema: string): () => Promise<string[]> {
  const unbegun = (table: string): string => `(SELECT count(*) FROM "${schema}".${table} AS x
        WHERE NOT EXISTS (SELECT FROM "${schema}".effect_transaction AS t WHERE t.epoch = x.epoch))`;
  const day = `CASE f.asserted_from WHEN '${OPEN_START}' THEN '' ELSE left(f.asserted_from, 10) END`;
  const isErased = (column: string): string => `${column} ~ '^\\{"\\$erased":"[0-9a-f]{64}"\\}$'`;
  const isOf = `t.key = f.key AND t.content = f.content AND t.audit = f.audit AND t.day = ${day}`;
  const statement: Statement = {
    text: `SELECT
      (SELECT count(*) FROM "${schema}".entry AS e
        WHERE NOT EXISTS (SELECT FROM "${schema}".trajectory AS t WHERE t.key = e.trajectory)),
      (SELECT count(*) FROM "${schema}".trajectory AS t
        WHERE NOT EXISTS (SELECT FROM "${schema}".entry AS e WHERE e.trajectory = t.key)),
      (SELECT count(*) FROM "${schema}".log AS l
        WHERE NOT EXISTS (SELECT FROM "${schema}".entry AS e WHERE e.position = l.entry)),
      (SELECT count(*) FROM "${schema}".entry AS e
        WHERE e.position <= (SELECT coalesce(max(entry), 0) FROM "${schema}".log)
          AND NOT EXISTS (SELECT FROM "${schema}".log AS l WHERE l.entry = e.position)),
      ${unbegun('effect_record')},
      (SELECT count(*) FROM (
        SELECT FROM "${schema}".effect_record GROUP BY epoch HAVING count(*) <> max(place) + 1) AS x),
      ${unbegun('effect_key')},
      (SELECT count(*) FROM "${schema}".effect_key AS k WHERE NOT EXISTS (
        SELECT FROM "${schema}".effect_record AS r WHERE r.epoch = k.epoch AND position(encode(k.key, 'hex') IN r.record) > 0)),
      (SELECT count(*) FROM "${schema}".oracle_within AS w
        WHERE NOT EXISTS (SELECT FROM "${schema}".oracle AS o WHERE o.key = w.key)),
      (SELECT count(*) FROM "${schema}".blob AS b WHERE erased_by IS NULL AND hash <> sha256(convert_to(text, 'UTF8'))
        AND NOT EXISTS (SELECT FROM "${schema}".archive_file AS f WHERE f.state = 'live' AND f.part = 'blobs'
          AND b.text ~ '^@[0-9]{1,15}[.][0-9]{1,15}$' AND f.segment::text = split_part(substr(b.text, 2), '.', 1))),
      (SELECT abs(count(*) - 1) + count(*) FILTER (WHERE erasures = 0 AND (
          EXISTS (SELECT FROM "${schema}".blob WHERE erased_by IS NOT NULL)
          OR EXISTS (SELECT FROM "${schema}".oracle WHERE erased_by IS NOT NULL))) FROM "${schema}".scrub),
      ${unbegun('effect_open')},
      (SELECT abs(count(*) - 1) FROM "${schema}".effect_tenure),
      (SELECT count(*) FROM "${schema}".fact AS f
        WHERE NOT EXISTS (SELECT FROM "${schema}".fact_partition AS p WHERE p.key = f.key)),
      (SELECT count(*) FROM "${schema}".fact AS f JOIN "${schema}".fact_partition AS p ON p.key = f.key
        WHERE f.id <> sha256(convert_to("${schema}".fact_branch(p.branch) || octet_length(f.fact_id) || ' ' || f.fact_id
          || f.system_start || p.space, 'UTF8'))),
      (SELECT count(*) FROM "${schema}".fact_text AS t
        WHERE NOT EXISTS (SELECT FROM "${schema}".fact_partition AS p WHERE p.key = t.key)),
      (SELECT count(*) FROM "${schema}".fact_text AS t, LATERAL (
          SELECT coalesce(sum(cardinality(w.positions)), 0) AS words, coalesce(max(cardinality(w.positions)), 0) AS most
          FROM unnest(t.words) AS w
        ) AS c WHERE c.words > t.length OR (c.words < t.length AND c.most < ${OCCURRENCES_MAX})),
      (SELECT count(*) FROM "${schema}".fact AS f JOIN "${schema}".fact_partition AS p ON p.key = f.key
        WHERE f.object <> '{"$erased":"' || encode(f.content, 'hex') || '"}' AND NOT ${isErased('p.subject')}
          AND EXISTS (SELECT FROM "${schema}".fact_rebuild AS r WHERE r.whole)
          AND NOT EXISTS (SELECT FROM "${schema}".fact_text AS t WHERE ${isOf})),
      (SELECT count(*) FROM "${schema}".fact_text AS t WHERE NOT EXISTS (SELECT FROM "${schema}".fact AS f WHERE ${isOf})),
      (SELECT count(*) FROM "${schema}".fact_text AS t JOIN "${schema}".fact_partition AS p ON p.key = t.key
        WHERE NOT EXISTS (SELECT FROM "${schema}".fact_text_space AS s WHERE s.space = t.space AND s.hash = p.space_hash)),
      (SELECT count(*) FROM "${schema}".fact_vector AS v
        WHERE NOT EXISTS (SELECT FROM "${schema}".fact_text AS t WHERE t.id = v.text)),
      (SELECT count(*) FROM "${schema}".fact_vector AS v LEFT JOIN "${schema}".fact_embedder AS e ON e.embedder = v.embedder
        WHERE cardinality(v.vector) IS DISTINCT FROM e.dimensions),
      (SELECT count(*) FROM "${schema}".fact_rebuild AS r WHERE NOT r.whole),
      (SELECT abs(count(*) - 1) FROM "${schema}".fact_rebuild),
      (SELECT coalesce(sum(erasures - rewritten), 0) FROM "${schema}".scrub),
      (SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()),
      (SELECT count(*) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE c.relnamespace = $1::regnamespace AND NOT (i.indisvalid AND i.indisready))`,
  };
  const unfit = named(
    schema,
    `SELECT q.key FROM "${schema}".fact_partition AS q JOIN "${schema}".fact AS f ON f.key = q.key
    GROUP BY q.key HAVING max(f.seq) > q.version OR max(f.system_start) > q.latest
      OR max(nullif(f.system_end, '${OPEN_END}')) > q.latest OR (bool_or(NOT f.single) AND NOT q.several)`,
  );
  return async () => {
    const [row] = await readers.run(statement, [schema]);
    const changed = schemaFaults(await readers.run(READ_CATALOGUE, catalogueValues(schema)));
    const partitions = async (which: Statement, what: string): Promise<string[]> =>
      (await readers.run(which)).map(([name]) => `the facts of ${name} ${what}`);
    return [
      ...changed.map((fault) => `${fault}; undo the change, or restore a backup`),
      ...counted(row!),
      ...(await partitions(
        unfit,
        'do not fit the version or the latest change of their partition',
      )),
      ...(await partitions(
        overlapping(schema),
        'overlap, although the predicate is single-valued',
      )),
    ];
  };
}

/** The single-valued partitions with overlapping current facts, as JSON. */
function overlapping(schema: string): Statement {
  return named(
    schema,
    `SELECT x.key FROM (
      SELECT f.key, f.valid_to, lead(f.valid_from) OVER (PARTITION BY f.key ORDER BY f.valid_from) AS next
      FROM "${schema}".fact AS f WHERE NOT f.audit AND f.system_end = '${OPEN_END}' AND f.single
    ) AS x WHERE x.next < x.valid_to`,
  );
}

/** `keys`: a statement that selects the keys of partitions. */
function named(schema: string, keys: string): Statement {
  return {
    text: `SELECT json_build_array(p.space, p.subject, p.predicate) FROM "${schema}".fact_partition AS p
      WHERE p.key IN (${keys}) ORDER BY p.key LIMIT ${NAMED_MAX}`,
  };
}

function counted(row: Row): string[] {
  return row.flatMap((count, index) =>
    Number(count) === 0 ? [] : [`${count} ${FINDINGS[index]}`],
  );
}

/** The maximum number of partitions that the report names. */
const NAMED_MAX = 20;

const ANEW = '; rebuild them: assize memory rebuild';

/** The text after each count, in the order of the columns. */
const FINDINGS: readonly string[] = [
  'entries belong to no trajectory',
  'trajectories have a name and no entries',
  'positions of the log have lost their entries',
  'entries have no position in the log, and cannot get one',
  'records of the effect log belong to no transaction',
  'transactions have gaps in the effect log',
  'keys of effects belong to no transaction',
  'keys of effects are in no record of their transaction',
  'listed oracle answers do not exist',
  'texts do not have their hash',
  'counters of erasures are missing, or do not count the erasures',
  'transactions are open but do not exist',
  'fences are missing or too many',
  'facts belong to no partition',
  'facts do not have the id of their version',
  'texts of facts belong to no partition',
  'texts of facts have a wrong word count',
  `facts have no search text${ANEW}`,
  `texts belong to no fact${ANEW}`,
  `texts of facts are indexed in a wrong space${ANEW}`,
  'vectors belong to no text',
  `vectors have no embedder, or other dimensions than their embedder${ANEW}`,
  'rebuilds of the facts are not finished; rebuild them: assize memory rebuild',
  'completeness marks of the facts are missing or too many',
  'erasures may have left bytes in the files of the tables; open the store for writing as their owner',
  'pages of the database have a wrong checksum',
  'indexes are incomplete',
];
