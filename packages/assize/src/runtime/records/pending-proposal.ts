import type { Json } from '#base';
import { contentHash, parseCanonical } from '#canon';
import type { CounseledProposal, Observed, PendingProposal } from '#kernel';
import {
  approvalsOf,
  type Hash,
  type Observation,
  type PendingPayload,
  type ProposalRecord,
  type Replayer,
  type Stored,
  TOKEN_BY,
  TRACEPARENT,
  tokenMakersIn,
} from '#ledger';
import { ORACLE_LIMITS, type OracleRow, type OracleStore } from '#oracle';
import { RuntimeError } from '../errors.ts';
import {
  type EntryPosition,
  readCalls,
  readOperations,
  readSeenCalls,
  readValue,
} from './stored-values.ts';

/** The sources of the parts of a pending proposal. */
export interface PendingSources {
  readonly replayer: Replayer;
  readonly oracle: Pick<OracleStore, 'oracleGet'> | undefined;
}

/**
 * A pending proposal read back from its entry, with its blobs and recorded observations.
 *
 * @throws LedgerFault for a missing blob; RuntimeError `observation_missing`, `erased`
 */
export async function readPendingProposal(
  pending: PendingPayload,
  holders: readonly string[],
  sources: PendingSources,
): Promise<PendingProposal> {
  const { replayer } = sources;
  const { action, delta, approval, at, observations } = pending.proposal;
  const entry = { trajectory_id: pending.trajectory_id, seq: pending.seq };
  const observed: Observed[] = [];
  for (const observation of seenObservations(observations)) {
    observed.push({
      name: observation.name,
      value: await observedValue(observation, entry, sources),
    });
  }
  return {
    intent: {
      action: action.name,
      role: action.role,
      args: await readValue(entry, action.args, replayer),
    },
    inputs: {
      at,
      observations: observed,
      calls: await readCalls(entry, delta.effects, observed, replayer),
    },
    patches: await readOperations(entry, delta.state, replayer),
    approval: await readOperations(entry, approval, replayer),
    ...(pending.invariant_id === undefined ? {} : { invariantId: pending.invariant_id }),
    channel: pending.channel,
    ...(pending.deputies && { deputies: pending.deputies }),
    ...approvedSoFar(pending),
    freezes: pending.freezes,
    requesters: requestersOf(pending.proposal, holders),
  };
}

/** The observations that the domain has seen: all but the trace and the token of the caller. */
export function seenObservations(observations: readonly Observation[]): readonly Observation[] {
  return observations.filter(({ name }) => name !== TRACEPARENT && name !== TOKEN_BY);
}

/**
 * The holders of the writ of a proposal, and who made the token of the requester. None of them may
 * approve.
 */
export function requestersOf(
  { observations }: ProposalRecord,
  holders: readonly string[],
): readonly string[] {
  return [...holders, ...tokenMakersIn(observations)];
}

/** The approvers, each with the time of the approval. Every entry of a valid chain has a time. */
function approvedSoFar(pending: PendingPayload): Pick<PendingProposal, 'approvals' | 'approvedBy'> {
  const { needed, given } = approvalsOf(pending);
  return {
    approvals: needed,
    approvedBy: given.map((one) => ({ ...one, at: one.at ?? pending.at })),
  };
}

/**
 * The proposal as counselor predicates see it, for a rejection. An erased value is
 * `{"$erased": hash}`: a proposal with erased values can still be rejected.
 *
 * @throws LedgerFault for a missing blob
 */
export async function readSeenProposal(
  pending: PendingPayload,
  replayer: Replayer,
): Promise<CounseledProposal> {
  const { action, delta } = pending.proposal;
  const entry = { trajectory_id: pending.trajectory_id, seq: pending.seq };
  return {
    action: action.name,
    role: action.role,
    args: await replayer.values.value(entry, action.args),
    calls: await readSeenCalls(entry, delta.effects, replayer),
  };
}

/**
 * The recorded value of an observation.
 *
 * @throws LedgerFault for a missing blob; RuntimeError `observation_missing`, `erased`
 */
export async function observedValue(
  observation: Observation,
  entry: EntryPosition,
  { replayer, oracle }: PendingSources,
): Promise<Json> {
  const { name, value, oracle_key: key, hash } = observation;
  if (key === undefined) return readValue(entry, value as Stored, replayer);
  const row = await oracle?.oracleGet(key);
  if (row?.erased_by !== undefined) throw erasedAnswer(name, row);
  const named = hash ?? (await readValue(entry, value as Stored, replayer));
  const answer = row === undefined ? undefined : parseCanonical(row.answer, ORACLE_LIMITS);
  if (answer !== undefined && contentHash(answer, ORACLE_LIMITS) === named) return answer;
  throw new RuntimeError(
    'observation_missing',
    `The observation ${name} is recorded under oracle key ${key}, which ${answer === undefined ? 'is missing' : 'has another answer'}. Open the runtime with the oracle log of the recording.`,
    { evidence: { key } },
  );
}

/**
 * Checks that observations by oracle key are in the oracle log: an entry must not name an answer
 * that was never given.
 *
 * @throws RuntimeError `observation_missing`, `erased`
 */
export async function checkObserved(
  observations: readonly Observation[],
  oracle: PendingSources['oracle'],
): Promise<void> {
  for (const { name, oracle_key: key, hash } of observations) {
    if (key === undefined) continue;
    const row = await oracle?.oracleGet(key);
    if (row?.erased_by !== undefined) throw erasedAnswer(name, row);
    if (row !== undefined && hashOf(row) === hash) continue;
    const what =
      oracle === undefined ? 'the runtime has no oracle log' : 'the oracle log has no such answer';
    throw new RuntimeError(
      'observation_missing',
      `The observation ${name} names oracle key ${key}, but ${what}.`,
      {
        evidence: { key },
      },
    );
  }
}

function erasedAnswer(name: string, { key, erased_by }: OracleRow): RuntimeError {
  return new RuntimeError(
    'erased',
    `The observation ${name} is recorded under oracle key ${key}, whose answer was erased by ${erased_by}. The operation cannot continue.`,
    { evidence: { key, by: erased_by } },
  );
}

function hashOf({ answer }: OracleRow): Hash {
  return contentHash(parseCanonical(answer, ORACLE_LIMITS), ORACLE_LIMITS);
}
