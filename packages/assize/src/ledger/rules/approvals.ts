import { canonicalize } from '#canon';
import type { CounselorRecord, Instant, PendingPayload, VectorItem } from '../entry/entry.ts';
import type { BrokenRule } from '../rule-ids.ts';

/**
 * Proposals that require several approvals. Each approval except the last is a `pending_approval`
 * entry. It resolves the previous entry, repeats the submitted proposal, and adds the approver. The
 * last approval is the commit.
 */
export function approvalsOf({ approvals, approved_by }: PendingPayload): {
  /** Number of required approvals. */
  readonly needed: number;
  /** The approvers so far, in order. */
  readonly given: readonly CounselorRecord[];
} {
  return { needed: approvals ?? 1, given: approved_by ?? [] };
}

/**
 * Whether an approver is of the kinds of the channel, each of them or its deputy that was due when
 * the approver decided.
 */
export function isOfChannel(
  { as }: CounselorRecord,
  { channel, deputies = [] }: PendingPayload,
  at: Instant,
): boolean {
  if (channel === 'any') return true;
  const [asked, held] = [channel.split('+'), as.split('+')];
  return (
    asked.length === held.length &&
    asked.every(
      (of, n) =>
        of === held[n] ||
        deputies.some((one) => one.of === of && one.kind === held[n] && one.from <= at),
    )
  );
}

/** Whether a request names deputies well: one for a kind of its channel, from a later time on. */
export function isDeputised({ channel, deputies, at }: PendingPayload): boolean {
  if (deputies === undefined) return true;
  const asked = new Set(channel.split('+'));
  // A kind that cannot be deleted is there twice, or not asked for.
  return deputies.length > 0 && deputies.every(({ of, from }) => asked.delete(of) && from > at);
}

/**
 * Maximum length of an approver's name in UTF-16 units, if several decide. Unicode composition of a
 * hostile text takes quadratic time.
 */
const NAME_MAX = 512;

/** Whether two names denote one principal, in any Unicode normal form. */
export function isSamePrincipal(one: string, other: string): boolean {
  return one.normalize('NFC') === other.normalize('NFC');
}

/**
 * The reason why an entry is not a further approval, before the last, of the pending proposal.
 * Undefined if it is.
 */
export function partialApprovalFault(
  step: PendingPayload,
  before: PendingPayload,
): BrokenRule | undefined {
  if (canonicalize(approvedFields(step)) !== canonicalize(approvedFields(before)))
    return { rule: 'pending.proposal', detail: 'its proposal differs from the pending one' };

  const { needed, given } = approvalsOf(step);
  const earlier = approvalsOf(before).given;
  if (given.length !== earlier.length + 1)
    return { rule: 'pending.approved-by', detail: 'it must add exactly one approval' };
  if (canonicalize(given.slice(0, -1)) !== canonicalize(earlier))
    return {
      rule: 'pending.approved-by',
      detail: 'its earlier approvals differ from the recorded ones',
    };
  if (given.length >= needed)
    return { rule: 'pending.approved-by', detail: 'the last approval must be a commit' };

  const last = given.at(-1) as CounselorRecord;
  if (last.at !== step.at)
    return {
      rule: 'pending.approved-by',
      detail: 'the time of the added approval is not the time of the entry',
    };
  const fault = byAnother(last, earlier) ?? overrideFault(given, [], step);
  return fault === undefined ? undefined : { rule: 'pending.counselor', detail: fault };
}

/** The parts of a commit that name the approvers. */
interface LastApproval {
  readonly counselor: CounselorRecord;
  readonly vector: readonly VectorItem[];
  /** The earlier approvers, as the commit repeats them. */
  readonly earlier: readonly CounselorRecord[] | undefined;
}

/**
 * The reason why a commit is not the last required approval of a proposal (`commit.approvals`).
 * Undefined if it is.
 */
export function lastApprovalFault(
  { counselor, vector, earlier = [] }: LastApproval,
  before: PendingPayload,
): string | undefined {
  const { needed, given } = approvalsOf(before);
  if (given.length + 1 !== needed)
    return `it needs ${needed} approvals, and this is number ${given.length + 1}`;
  if (canonicalize(earlier) !== canonicalize(given))
    return 'its earlier approvals differ from the recorded ones';
  return byAnother(counselor, given) ?? overrideFault([...given, counselor], vector, before);
}

/**
 * The reason why the approvers do not override all violations of a vector together. Undefined if
 * they do, and if the vector passes and no approver overrides.
 */
function overrideFault(
  approvers: readonly CounselorRecord[],
  vector: readonly VectorItem[],
  { invariant_id: escalated }: PendingPayload,
): string | undefined {
  const broken = vector.filter(({ result }) => result !== 'pass');
  const overriding = approvers.filter(({ override }) => override === true);
  if (
    approvers.some(({ override, overridden }) => (override === true) !== (overridden !== undefined))
  )
    return 'an override does not name what it overrides';
  if (overriding.length === 0)
    return broken.length === 0 ? undefined : 'a violation is committed without an override';
  if (overriding.length < approvers.length) return 'an approval has no override';
  const violation = ({ invariant_id, result, detail }: VectorItem): string =>
    canonicalize({
      invariant_id,
      result,
      ...(detail === undefined || invariant_id === escalated ? {} : { detail }),
    });
  const [first, ...others] = approvers.map(
    ({ overridden = [] }) => new Set(overridden.map(violation)),
  );
  if (first === undefined || first.size === 0) return 'an override does not name what it overrides';
  if (
    others.some(
      (other) => other.size !== first.size || ![...other].every((item) => first.has(item)),
    )
  )
    return 'two approvals override different violations';
  return broken.every((item) => first.has(violation(item)))
    ? undefined
    : 'an approval does not override every violation';
}

function byAnother(last: CounselorRecord, earlier: readonly CounselorRecord[]): string | undefined {
  if (earlier.length === 0) return undefined;
  const own = principalsOf(last);
  const names = earlier.flatMap(principalsOf);
  if ([...own, ...names].some(({ length }) => length > NAME_MAX))
    return `the name of one of several counselors exceeds ${NAME_MAX} UTF-16 units`;
  const isTwice = names.some((name) => own.some((one) => isSamePrincipal(name, one)));
  return isTwice ? 'a counselor approves it twice' : undefined;
}

/** The counselor and the makers of its token, who count as one person. */
export function principalsOf({ principal, token_by = [] }: CounselorRecord): readonly string[] {
  return [principal, ...token_by];
}

/** The fields that stay the same until the last approval. */
function approvedFields(pending: PendingPayload): unknown {
  const {
    proposal,
    digest,
    channel,
    reason,
    detail,
    freezes,
    approvals,
    policy,
    invariant_id,
    expires,
    deputies,
  } = pending;
  return {
    proposal,
    digest,
    channel,
    reason,
    detail,
    freezes,
    approvals: approvals ?? null,
    policy: policy ?? null,
    invariant_id: invariant_id ?? null,
    expires: expires ?? null,
    deputies: deputies ?? null,
  };
}
