import type { Hash } from '#ledger';
import type { OpenPending, RunOptions } from '../run.ts';
import type { Counsel, CounselDecision } from '../turn.ts';
import { badOption } from './bad-option.ts';

/**
 * Decides the pending proposals of a branch. `as_recorded`: as the record decided an equal
 * proposal, and `wait` without such a decision. `wait`: the sample ends there.
 */
export type People =
  | 'as_recorded'
  | 'wait'
  | { readonly approve: string }
  | { readonly reject: string; readonly reason?: string }
  | NonNullable<RunOptions['counsel']>;

/** A decision of the record, with the proposal that it was about. */
export interface RecordedCounsel {
  /** The pending entry. */
  readonly pending: Hash;
  /** The key of the proposal. */
  readonly proposal: string;
  readonly decision: CounselDecision;
}

const METHOD = 'simulation';

/**
 * The counselor function of a sample. Undefined: every pending proposal waits.
 *
 * @throws AgentError `bad_option`
 */
export function counselOf(
  people: People,
  recorded: readonly RecordedCounsel[],
  keyOf: (pending: OpenPending) => Promise<string>,
): RunOptions['counsel'] {
  if (people === 'wait') return undefined;
  if (people === 'as_recorded') return recorded.length === 0 ? undefined : asRecorded(recorded, keyOf);
  if (typeof people === 'function') return people;
  const { approve, reject, reason } = Object(people) as { approve?: unknown; reject?: unknown; reason?: unknown };
  if (isText(approve) && reject === undefined)
    return () => ({ do: 'approve', principal: approve, method: METHOD });
  if (isText(reject) && approve === undefined && (reason === undefined || isText(reason)))
    return () => ({ do: 'reject', principal: reject, method: METHOD, reason: reason ?? 'rejected in a simulation' });
  throw badOption('people must be as_recorded, wait, {approve: PRINCIPAL}, {reject: PRINCIPAL} or a function');
}

/** The n-th decision about a pending entry or an equal proposal is the n-th of the record. */
function asRecorded(
  recorded: readonly RecordedCounsel[],
  keyOf: (pending: OpenPending) => Promise<string>,
): NonNullable<RunOptions['counsel']> {
  const left = [...recorded];
  return async (open) => {
    const { id } = open;
    const key = await keyOf(open);
    const same = left.findIndex(({ pending }) => pending === id);
    // An equal proposal at another place is decided at once, as the record decided it in the end.
    const equal = left.findIndex(({ proposal, decision }) => proposal === key && decision.do !== 'later');
    const at = same >= 0 ? same : equal;
    if (at < 0) return { do: 'later' };
    const [{ decision }] = left.splice(at, 1) as [RecordedCounsel];
    return decision;
  };
}

/** The decision of a counselor's turn, without the proposal that it names. */
export function decisionIn({ pending: _, digest: __, ...decision }: Counsel): CounselDecision {
  return decision as CounselDecision;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
