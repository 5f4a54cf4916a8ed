import type {
  EffectKeyRow,
  EffectPage,
  Hash,
  LoggedTransaction,
  OpenEffectPage,
} from 'assize/internal/ledger';
import type { Readers } from '../connection/readers.ts';
import { bytea } from '../connection/row.ts';
import type { Statement } from '../connection/session.ts';

/** The place where a key was used. */
export function prepareEffectKey(
  readers: Readers,
  schema: string,
): (key: Hash) => Promise<EffectKeyRow | undefined> {
  const statement: Statement = {
    name: 'assize effect key',
    text: `SELECT epoch, n FROM "${schema}".effect_key WHERE key = $1::bytea`,
  };
  return async (key) => {
    const [row] = await readers.run(statement, [bytea(key)]);
    return row && { key, epoch: Number(row[0]), n: Number(row[1]) };
  };
}

/** Whether the store ever gave a lease or a group membership. */
export function prepareWereEffectsHeld(readers: Readers, schema: string): () => Promise<boolean> {
  const statement: Statement = {
    name: 'assize effects were held',
    text: `SELECT 1 FROM "${schema}".effect_tenure WHERE fence > 0`,
  };
  return async () => (await readers.run(statement, [])).length > 0;
}

/** The transactions that have not ended, by epoch. */
export function prepareOpenEffects(
  readers: Readers,
  schema: string,
): (page: OpenEffectPage) => Promise<LoggedTransaction[]> {
  const from = `(SELECT t.* FROM "${schema}".effect_open AS o JOIN "${schema}".effect_transaction AS t ON t.epoch = o.epoch
    WHERE o.epoch > $1 AND ($2::text IS NULL OR t.trajectory = $2) ORDER BY o.epoch LIMIT $3) AS t`;
  const logged = prepareLogged(readers, schema, 'assize open effects', from, '');
  return ({ after = 0, limit, trajectoryId = null }) => logged(after, trajectoryId, limit ?? null);
}

/** The transaction of an epoch, also if it has ended. */
export function prepareEffectsOf(
  readers: Readers,
  schema: string,
): (epoch: number) => Promise<LoggedTransaction | undefined> {
  const from = `"${schema}".effect_transaction AS t`;
  const logged = prepareLogged(readers, schema, 'assize effects', from, 'WHERE t.epoch = $1');
  return async (epoch) => (await logged(epoch))[0];
}

/** The transactions below an epoch, also ended ones, with the newest first. */
export function prepareListEffects(
  readers: Readers,
  schema: string,
): (page: EffectPage) => Promise<LoggedTransaction[]> {
  const from = `(SELECT * FROM "${schema}".effect_transaction
    WHERE epoch < $1 AND ($2::text IS NULL OR trajectory = $2) ORDER BY epoch DESC LIMIT $3) AS t`;
  const logged = prepareLogged(readers, schema, 'assize list effects', from, '', 'DESC');
  return ({ before = Number.MAX_SAFE_INTEGER, limit, trajectoryId = null }) =>
    logged(before, trajectoryId, limit);
}

// One statement, to read one snapshot of the log.
function prepareLogged(
  readers: Readers,
  schema: string,
  name: string,
  from: string,
  where: string,
  order: 'ASC' | 'DESC' = 'ASC',
): (...values: (number | string | null)[]) => Promise<LoggedTransaction[]> {
  const statement: Statement = {
    name,
    text: `SELECT t.epoch, t.trajectory, t.body, r.record FROM ${from}
      LEFT JOIN "${schema}".effect_record AS r ON r.epoch = t.epoch ${where} ORDER BY t.epoch ${order}, r.place`,
  };
  return async (...values) => {
    const found: (LoggedTransaction & { readonly records: string[] })[] = [];
    for (const row of await readers.run(statement, values)) {
      const [epoch, trajectory_id, body, record] = row as [string, string, string, string | null];
      let last = found.at(-1);
      if (last?.epoch !== Number(epoch)) {
        last = { epoch: Number(epoch), trajectory_id, body, records: [] };
        found.push(last);
      }
      if (record !== null) last.records.push(record);
    }
    return found;
  };
}
