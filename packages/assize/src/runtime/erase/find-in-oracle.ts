import { isAssizeError, type Json } from '#base';
import { parseCanonical } from '#canon';
import { type Hash, type LedgerStore, observationsOf, type Payload } from '#ledger';
import {
  listingKeyOf,
  ORACLE_LIMITS,
  type OracleStore,
  recordedUnder,
  turnKey,
  turnNamedBy,
} from '#oracle';

type OracleLog = Pick<OracleStore, 'oracleGet' | 'oracleWithin'>;

const PAGE = 1_000;

/**
 * Whether a store has an oracle log in the same database as its entries. A separate log is not
 * erased with them.
 */
export function isOracleLog(store: LedgerStore): store is LedgerStore & OracleLog {
  return typeof (store as Partial<OracleLog>).oracleGet === 'function';
}

/**
 * Oracle-log keys of a proposal's observations. The key of the agent's turn is excluded: it has
 * only hashes and names, and the run could not continue without it.
 */
export function answersNamedBy(payload: Payload): readonly Hash[] {
  return observationsOf(payload).flatMap((observation) => {
    const { oracle_key: key } = observation;
    return key === undefined || turnNamedBy(payload.trajectory_id, observation) !== undefined
      ? []
      : [key];
  });
}

/**
 * Keys of the answers of one kind in a memory space or a trajectory, including attempts. Turns of a
 * run are excluded.
 */
export async function answersWithin(
  log: OracleLog,
  scope: Parameters<typeof listingKeyOf>[0],
  isMeant: (answer: Json) => boolean,
): Promise<readonly Hash[]> {
  const found: Hash[] = [];
  let after: string | undefined;
  for (;;) {
    const rows =
      (await log.oracleWithin?.(listingKeyOf(scope), {
        limit: PAGE,
        ...(after !== undefined && { after }),
      })) ?? [];
    for (const { key, answer } of rows) if (isMeant(readAnswer(answer))) found.push(key);
    after = rows.at(-1)?.key;
    if (rows.length < PAGE) break;
  }
  if (found.length === 0 || scope.kind === 'memory') return found;
  const turns = await turnsOf(log, scope.trajectory);
  return found.filter((key) => !turns.has(key));
}

async function turnsOf(log: OracleLog, trajectoryId: string): Promise<ReadonlySet<Hash>> {
  const turns = new Set<Hash>();
  for (
    let key = turnKey(trajectoryId, 0);
    await log.oracleGet(key);
    key = turnKey(trajectoryId, turns.size)
  )
    turns.add(key);
  return turns;
}

/** A damaged answer is returned as a string. */
function readAnswer(text: string): Json {
  try {
    return parseCanonical(text, ORACLE_LIMITS);
  } catch (error) {
    if (isAssizeError(error)) return text;
    throw error;
  }
}

/** All records under these keys that were not erased before, including attempts. */
export async function answersThere(log: OracleLog, keys: Iterable<Hash>): Promise<readonly Hash[]> {
  const there: Hash[] = [];
  for (const key of keys) there.push(...(await recordedUnder(log, key)));
  return there;
}
