import type { Hash, LedgerStore, Observation, Payload } from '#ledger';
import { type OracleStore, recordedUnder, turnNamedBy } from '#oracle';

type OracleLog = Pick<OracleStore, 'oracleGet'>;

/** Whether a store has an oracle log beside its entries: another one is not erased with them. */
export function isOracleLog(store: LedgerStore): store is LedgerStore & OracleLog {
  return typeof (store as Partial<OracleLog>).oracleGet === 'function';
}

/**
 * Keys of the answers that a proposal observed. That of the turn in which an agent made it is not among them: it has hashes and names,
 * and without it no later turn of the run could be taken.
 */
export function answersNamedBy(payload: Payload): readonly Hash[] {
  return observationsOf(payload).flatMap((observation) => {
    const { oracle_key: key } = observation;
    return key === undefined || turnNamedBy(payload.trajectory_id, observation) !== undefined ? [] : [key];
  });
}

/** All that the log has under these keys, attempts too, and that was not erased before. */
export async function answersThere(log: OracleLog, keys: Iterable<Hash>): Promise<readonly Hash[]> {
  const there: Hash[] = [];
  for (const key of keys) there.push(...(await recordedUnder(log, key)));
  return there;
}

function observationsOf(payload: Payload): readonly Observation[] {
  switch (payload.kind) {
    case 'commit':
      return payload.observations;
    case 'pending_approval':
      return payload.proposal.observations;
    case 'rejection':
      return payload.intent.observations;
    default:
      return [];
  }
}
