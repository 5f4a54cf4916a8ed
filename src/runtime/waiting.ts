import { contentHash, type Json, parseCanonical } from '#canon';
import type { Observed, PatchOperation, Waiting } from '#kernel';
import type { Entry, Observation, PendingPayload, Replayer } from '#ledger';
import type { OracleStore } from '#oracle';
import { RuntimeError } from './errors.ts';

/** Where the parts of a pending proposal are read from. */
export interface WaitingSources {
  readonly replayer: Replayer;
  readonly oracle: Pick<OracleStore, 'oracleGet'> | undefined;
}

/**
 * What waits, read back from its entry, with its blobs and recorded observations.
 *
 * @throws LedgerFault for a blob that is not there; RuntimeError `observation_missing`
 */
export async function readWaiting(
  pending: PendingPayload,
  requesters: readonly string[],
  sources: WaitingSources,
): Promise<Waiting> {
  const { replayer } = sources;
  const { action, delta, approval, at, observations } = pending.proposal;
  const entry = { trajectory_id: pending.trajectory_id, seq: pending.seq } as Entry;
  const observed: Observed[] = [];
  for (const observation of observations) {
    observed.push({ name: observation.name, value: await observedValue(observation, entry, sources) });
  }
  return {
    intent: { action: action.name, role: action.role, args: await replayer.value(entry, action.args) },
    inputs: { at, observations: observed },
    patches: (await replayer.value(entry, delta.state as never)) as unknown as PatchOperation[],
    approval: (await replayer.value(entry, approval as never)) as unknown as PatchOperation[],
    ...(pending.invariant_id === undefined ? {} : { invariantId: pending.invariant_id }),
    channel: pending.channel,
    freezes: pending.freezes,
    requesters,
  };
}

/**
 * The value that an observation was recorded with.
 *
 * @throws LedgerFault for a blob that is not there; RuntimeError `observation_missing`
 */
export async function observedValue(
  observation: Observation,
  entry: Entry,
  { replayer, oracle }: WaitingSources,
): Promise<Json> {
  const { name, value, oracle_key: key, hash } = observation;
  if (key === undefined) return replayer.value(entry, value as Json);
  const row = await oracle?.oracleGet(key);
  const answer = row === undefined ? undefined : parseCanonical(row.answer);
  if (answer !== undefined && contentHash(answer) === hash) return answer;
  throw new RuntimeError(
    'observation_missing',
    `The observation ${name} is recorded under oracle key ${key}, which ${answer === undefined ? 'is not at hand' : 'has another answer'}; give the runtime the oracle log that it was made with.`,
    { evidence: { key } },
  );
}

/**
 * Sees that observations by oracle key are what the oracle log has: an entry must not name an answer that was never given.
 *
 * @throws RuntimeError `observation_missing`
 */
export async function checkObserved(
  observations: readonly Observation[],
  oracle: WaitingSources['oracle'],
): Promise<void> {
  for (const { name, oracle_key: key, hash } of observations) {
    if (key === undefined) continue;
    const row = await oracle?.oracleGet(key);
    if (row !== undefined && contentHash(parseCanonical(row.answer)) === hash) continue;
    const what = oracle === undefined ? 'the runtime was given no oracle log' : 'the oracle log has no such answer';
    throw new RuntimeError('observation_missing', `The observation ${name} names oracle key ${key}, but ${what}.`, {
      evidence: { key },
    });
  }
}
