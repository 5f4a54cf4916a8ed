import type { Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import {
  type Entry,
  type Hash,
  isEffectEntry,
  type PendingPayload,
  type ValueReader,
} from 'assize/internal/ledger';
import type { RecordedEntry } from '../recorded-rows.ts';
import type { RecordedTurn } from '../turn.ts';
import { decisionIn, type RecordedCounsel } from './people.ts';

/**
 * The decisions on proposals that are pending at the shared entry or after it: those of a run from
 * its turns, with each `later`, and those of other writers from their entries.
 */
export async function counselIn(
  entries: readonly RecordedEntry[],
  sharedEntries: number,
  turns: readonly RecordedTurn[],
  values: ValueReader,
): Promise<RecordedCounsel[]> {
  const proposals = new Map<Hash, string>();
  const decided = new Map<Hash, RecordedCounsel[]>();
  const places = new Map(entries.map(({ entry }) => [entry.id, entry.seq]));
  for (const { turn } of turns) {
    if (!('counsel' in turn) || (places.get(turn.after) ?? 0) < sharedEntries - 1) continue;
    const { pending } = turn.counsel;
    decided.set(pending, [
      ...(decided.get(pending) ?? []),
      { pending, proposal: '', decision: decisionIn(turn.counsel) },
    ]);
  }
  for (const { entry } of entries) {
    const { payload } = entry;
    if (payload.kind === 'pending_approval' && !isEffectEntry(payload))
      proposals.set(entry.id, await proposalKey(entry as Entry<PendingPayload>, values));
    if (entry.seq < sharedEntries || !('resolves' in payload) || payload.resolves === undefined)
      continue;
    const { resolves } = payload;
    const isTold = decided.get(resolves)?.some(({ decision }) => decision.do !== 'later') === true;
    const decision = isTold ? undefined : await decisionOf(entry, values);
    if (decision !== undefined)
      decided.set(resolves, [
        ...(decided.get(resolves) ?? []),
        { pending: resolves, proposal: '', decision },
      ]);
  }
  return [...decided.values()]
    .flat()
    .map((one) => ({ ...one, proposal: proposals.get(one.pending) ?? '' }))
    .filter(({ proposal }) => proposal !== '');
}

/** Two pending proposals with one key are equal: action, role and arguments. */
export async function proposalKey(
  entry: Entry<PendingPayload>,
  values: ValueReader,
): Promise<string> {
  const { name, role, args } = entry.payload.proposal.action;
  return canonicalize([name, role, await values.value(entry, args)], { foreign: true });
}

/** Undefined if no person decided, or if the arguments of an amendment are erased. */
async function decisionOf(
  entry: Entry,
  values: ValueReader,
): Promise<RecordedCounsel['decision'] | undefined> {
  const { payload } = entry;
  if (payload.kind === 'rejection') {
    const { counselor, detail } = payload;
    if (counselor === undefined) return undefined;
    const { principal, method, reason } = counselor;
    return { do: 'reject', principal, method, reason: reason ?? detail };
  }
  const counselor =
    payload.kind === 'pending_approval' ? payload.approved_by?.at(-1) : counselorIn(payload);
  if (counselor === undefined) return undefined;
  const { principal, method, reason, override } = counselor;
  const approval = {
    ...{ do: 'approve' as const, principal, method },
    ...(reason !== undefined && { reason }),
    ...(override === true && { override }),
  };
  if (payload.kind !== 'commit' || payload.amended === undefined) return approval;
  const args = await values.read(entry, payload.action.args);
  return 'value' in args ? { ...approval, args: args.value as Json } : undefined;
}

function counselorIn(
  payload: Entry['payload'],
): Extract<Entry['payload'], { kind: 'commit' }>['counselor'] {
  return payload.kind === 'commit' ? payload.counselor : undefined;
}
