import { instantToMillis } from '#canon';
import {
  type EntryRow,
  type Hash,
  isEffectPending,
  type Payload,
  type PendingPayload,
  readRow,
  traceparentIn,
} from '#ledger';
import type { Tracer } from '#traces';

/** An entry, and the pending proposal that it resolves, if it does. */
interface Closed {
  readonly row: EntryRow;
  readonly resolves?: Hash | undefined;
  readonly waited?: PendingPayload | undefined;
}

/** Tells how long a proposal has waited for the decision that is recorded now. */
export function tellWait(tracer: Tracer, { row, resolves, waited }: Closed): void {
  if (resolves === undefined || waited === undefined || isEffectPending(waited)) return;
  const { payload } = readRow(row);
  const { invariant_id: rule, channel, trajectory_id: trajectory } = waited;
  tracer.interval({
    name: 'wait',
    facts: {
      trajectory,
      approval: resolves,
      entry: row.id,
      decision: decisionOf(payload),
      rule,
      channel,
    },
    parent: traceparentIn(waited),
    from: instantToMillis(waited.at),
    until: instantToMillis(payload.at),
  });
}

/** The end of the wait, in a word. */
function decisionOf(payload: Payload): string {
  if (payload.kind === 'commit') return payload.amended === undefined ? 'approved' : 'amended';
  if (payload.kind === 'rejection')
    return payload.reason === 'counselor_rejected' ? 'rejected' : payload.reason;
  return 'approved_in_part';
}
