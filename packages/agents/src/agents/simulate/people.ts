import type { Hash } from 'assize/internal/ledger';
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

/** @throws AgentError `bad_argument` */
export function checkPeople(people: People): void {
  if (people === 'as_recorded' || people === 'wait' || typeof people === 'function') return;
  const { approve, reject, reason, ...others } = Object(people) as {
    readonly [field: string]: unknown;
  };
  const isOne = isText(approve) ? reject === undefined && reason === undefined : isText(reject);
  if (
    isOne &&
    approve !== reject &&
    Object.keys(others).length === 0 &&
    (reason === undefined || isText(reason))
  )
    return;
  throw badOption(
    'people must be as_recorded, wait, {approve: PRINCIPAL}, {reject: PRINCIPAL} or a function',
  );
}

/** The counselor function of a sample. Undefined: every pending proposal waits. */
export function counselOf(
  people: People,
  recorded: readonly RecordedCounsel[],
  keyOf: (pending: OpenPending) => Promise<string>,
): RunOptions['counsel'] {
  if (people === 'wait') return undefined;
  if (people === 'as_recorded')
    return recorded.length === 0 ? undefined : asRecorded(recorded, keyOf);
  if (typeof people === 'function') return people;
  if ('approve' in people)
    return () => ({ do: 'approve', principal: people.approve, method: METHOD });
  const { reject: principal, reason = 'rejected in a simulation' } = people;
  return () => ({ do: 'reject', principal, method: METHOD, reason });
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
    // An equal proposal at another place is decided immediately, as the record decided it finally.
    const equal = left.findIndex(
      ({ proposal, decision }) => proposal === key && decision.do !== 'later',
    );
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
