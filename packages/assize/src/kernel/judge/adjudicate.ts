import { copyJson, toPointer, WORLD_LIMITS } from '#canon';
import type { ProposedCall } from '../domain/call.ts';
import type { Change } from '../domain/change.ts';
import type { Domain } from '../domain/domain.ts';
import {
  changeOutside,
  compileScope,
  contains,
  type Pattern,
  patternText,
  type Scope,
} from '../domain/footprint.ts';
import { refusePromise } from '../domain/host-code.ts';
import { hasErased } from '../domain/sensitive.ts';
import { FootprintFault, messageOf } from '../errors.ts';
import { changesOf } from '../state/changes.ts';
import type { Draft } from '../state/draft.ts';
import { overlapsPattern } from '../state/members.ts';
import { type PatchOperation, patchesOf } from '../state/patches.ts';
import { callsOf, NO_CALLS, type ProposalCalls } from './calls.ts';
import { candidateOf } from './candidate.ts';
import { approvalsFor, channelOf, deputiesOf, type NamedDeputy, timeoutFor } from './channel.ts';
import { compile, decidedWithCalls } from './compile.ts';
import type { ApprovalDemand, Authority, Compiled, Intent, Refusal } from './compiled.ts';
import type { Finding } from './finding.ts';
import { detailOf, escalatingCallRules, readBy } from './full-check.ts';
import type { Inputs } from './inputs.ts';
import { type HeldBy, heldDraft, type Reservation } from './reservations.ts';
import type { World } from './world.ts';

/**
 * A state change that passed every check. `keep` makes it the current state, `undo` and
 * `requireApproval` revert it. Call exactly one of them, once.
 */
export interface Approved {
  readonly verdict: 'approved';
  readonly compiled: Compiled;
  readonly changes: readonly Change[];
  /** The changes as the ledger records them. Call before `keep` or `undo`. */
  patches(): PatchOperation[];
  /** All paths that the rules read to check it. Call before `keep` or `undo`. */
  checkedAgainst(): readonly Pattern[];
  keep(): void;
  undo(): void;
  /**
   * The waiting proposal that the change would spoil (`freeze: 'reserve'`). The change is then
   * undone. Call it at most once, before the others.
   */
  heldBy<Waiting extends Reservation>(waiting: readonly Waiting[]): HeldBy<Waiting> | undefined;
  /** Submits the change for approval, for a reason that only the committing caller knows. */
  requireApproval(held: ApprovalDemand): Escalated | Rejected;
}

/** `conflict`: the caller reports that the proposal's read set was changed. */
export interface Rejected extends Omit<Refusal, 'reason'> {
  readonly verdict: 'rejected';
  readonly reason: Refusal['reason'] | 'conflict';
  /** The calls were planned for another state. Plan them again instead of recording this ruling. */
  readonly outdated?: true;
}

/** A change that needs a human decision. The state is unchanged. */
export interface Escalated {
  readonly verdict: 'escalated';
  readonly compiled: Compiled;
  readonly patches: readonly PatchOperation[];
  /**
   * The patches of the marks of all approvals, with `$counselor-1` and so on for the approvers,
   * `$counselor` for the last one, and the proposal's time for the times of approval.
   */
  readonly approval: readonly PatchOperation[];
  readonly reason: 'invariant_escalated' | ApprovalDemand['reason'];
  readonly detail: string;
  readonly invariantId?: string;
  /** The counselor kind that may resolve it: one kind, several joined by `+`, or `any`. */
  readonly channel: string;
  readonly deputies: readonly NamedDeputy[];
  /** Number of different approvers that it needs. */
  readonly approvals: number;
  /** The time until it expires, by the domain. Infinity where that states none. */
  readonly timeoutMs: number;
  readonly freezes: 'world' | readonly string[];
}

export type Ruling = Approved | Rejected | Escalated;

/** Stands for the counselor's name before the approval. */
export const COUNSELOR_PLACEHOLDER = '$counselor';

/** One approver, as `onApprove` receives it. */
export interface Mark {
  readonly counselor: string;
  readonly at: string;
}

/** The marks of all required approvers before they have approved: the last one is `$counselor`. */
export function placeholderMarks(approvals: number, at: string): Mark[] {
  return Array.from({ length: approvals }, (_, index) => {
    const number = index + 1;
    return {
      counselor:
        number === approvals ? COUNSELOR_PLACEHOLDER : `${COUNSELOR_PLACEHOLDER}-${number}`,
      at,
    };
  });
}

/**
 * The steps of a proposal: compile, candidate, the invariants in order. The first that does not
 * pass decides (Agentic Redux, Definition A.35). Synchronous and total. Without `keep` the state
 * stays unchanged. `parsed`: the arguments come from an entry and were parsed before. `conflict`:
 * called once, after the proposal is known to be authorised, so that an unauthorised requester
 * learns nothing else. It returns the reason of a refusal.
 */
export function adjudicate(
  world: World,
  intent: Intent,
  authority: Authority,
  inputs: Inputs,
  options: {
    readonly parsed?: boolean;
    readonly conflict?: () => string | undefined;
  } = {},
): Ruling {
  const given = inputs?.calls;
  const compiling = given === undefined ? options : { ...options, calls: given };
  const compiled = compile(world.domain, intent, authority, compiling);
  if ('reason' in compiled) return { verdict: 'rejected', ...compiled };
  const refusal = conflictOf(options) ?? erasedObservation(world, inputs, options);
  if (refusal !== undefined) return rejected(compiled, refusal);
  const candidate = candidateOf(world, compiled, inputs);
  if ('reason' in candidate) return rejected(compiled, candidate);
  try {
    return judged({ world, compiled, inputs, ...candidate, calls: NO_CALLS }, authority);
  } catch (error) {
    world.rollback(candidate.draft);
    throw error;
  }
}

/** The ruling on a candidate state. After an error the caller undoes the draft. */
function judged(candidate: CandidateStep, authority: Authority): Ruling {
  const step = withCalls(candidate, authority);
  if ('verdict' in step) return step;
  const { world, draft, changes, calls } = step;
  const checked = world.checks.checkChanges(draft.state, changes, calls.all);
  if (checked.finding?.result.result === 'reject')
    return rolledBack(step, brokenBy(step.compiled, checked.finding));
  if (checked.finding !== undefined || step.compiled.approvalDemand !== undefined)
    return rolledBack(step, escalation(step, checked.found));
  return approved(step, checked.keep);
}

/** A compiled proposal with its candidate state. */
interface CandidateStep {
  readonly world: World;
  readonly compiled: Compiled;
  readonly inputs: Inputs;
  readonly draft: Draft;
  readonly changes: readonly Change[];
  readonly calls: ProposalCalls;
}

/** The step with the calls of the proposal, and with the decision of the policy about them. */
function withCalls(step: CandidateStep, authority: Authority): CandidateStep | Rejected {
  const { world, compiled, draft, inputs } = step;
  const calls = callsOf(world.domain, compiled, draft.state, inputs);
  if ('reason' in calls) return rolledBack(step, rejected(compiled, calls));
  if (compiled.undecided === undefined) return calls === NO_CALLS ? step : { ...step, calls };
  const decided = decidedWithCalls(compiled, calls.all, authority);
  if ('reason' in decided) return rolledBack(step, rejected(compiled, decided));
  return { ...step, compiled: decided, calls };
}

function rejected({ policy }: Compiled, refusal: Omit<Rejected, 'verdict' | 'policy'>): Rejected {
  return { verdict: 'rejected', ...refusal, ...(policy === undefined ? {} : { policy }) };
}

function conflictOf({
  conflict,
}: {
  readonly conflict?: () => string | undefined;
}): Omit<Rejected, 'verdict'> | undefined {
  const detail = conflict?.();
  return detail === undefined ? undefined : { reason: 'conflict', detail };
}

/** As for arguments: `apply` may write an observed value into a sensitive place. */
function erasedObservation(
  { domain }: World,
  inputs: Inputs,
  { parsed }: { readonly parsed?: boolean },
): Omit<Rejected, 'verdict'> | undefined {
  if (domain.sensitive === undefined || parsed === true || !hasErased(inputs.observations))
    return undefined;
  const detail =
    'an observation has a value that is marked as erased; only an erasure writes that mark';
  return { reason: 'type_mismatch', detail };
}

function brokenBy(compiled: Compiled, finding: Finding): Rejected {
  const detail = detailOf(finding);
  return rejected(compiled, { reason: 'invariant_rejected', detail, invariantId: finding.rule.id });
}

/** A ruling that leaves the state as it was. */
function rolledBack<R extends Rejected | Escalated>({ world, draft }: CandidateStep, ruling: R): R {
  world.rollback(draft);
  return ruling;
}

/** `keep`: keeps the results of the rules. */
function approved(first: CandidateStep, keep: () => void): Approved {
  const { world, compiled, calls } = first;
  let step = first;
  // A getter here would give each ruling its own hidden class, and the engine keeps each.
  const ruling: { -readonly [Member in keyof Approved]: Approved[Member] } = {
    verdict: 'approved',
    compiled,
    changes: step.changes,
    patches: () => patchesOf(world.domain, step.draft.state, step.changes),
    checkedAgainst: () => world.checks.readBy(step.draft.state, step.changes, calls.all),
    keep: () => {
      world.adopt(step.draft);
      keep();
    },
    undo: () => world.rollback(step.draft),
    heldBy: (waiting) => {
      const judged = heldDraft(world, step, waiting);
      if ('held' in judged) return judged.held;
      step = { ...step, ...judged };
      ruling.changes = step.changes;
      return undefined;
    },
    requireApproval: (held) =>
      rolledBack(
        step,
        escalation({ ...step, compiled: { ...compiled, approvalDemand: held } }, []),
      ),
  };
  return ruling;
}

function escalation(
  { world, compiled, draft, changes, inputs, calls }: CandidateStep,
  found: readonly Finding[],
): Escalated | Rejected {
  const [finding] = found;
  const callRules = escalatingCallRules(world.domain, draft.state, calls.all);
  const approvals = approvalsFor(compiled, finding, callRules);
  const channel = channelOf(compiled, finding, callRules);
  const mark = world.draft(draft.state);
  try {
    markApprovals(mark, compiled, finding, placeholderMarks(approvals, inputs.at));
    const marks = changesOf(mark);
    const outside = changeOutside(closureOf(compiled, finding).patterns, marks);
    if (outside !== undefined) throw new FootprintFault(toPointer(outside.keys), 'write');
    const approval = copied(patchesOf(world.domain, mark.state, marks));
    mark.undo();
    draft.exchangeRoot(mark.state);
    const reasons = [finding && detailOf(finding), compiled.approvalDemand?.detail].filter(
      (text) => text !== undefined,
    );
    return {
      verdict: 'escalated',
      compiled,
      patches: copied(patchesOf(world.domain, draft.state, changes)),
      approval,
      reason: reasonOf(compiled, finding),
      detail: reasons.join('; '),
      ...(finding === undefined ? {} : { invariantId: finding.rule.id }),
      channel,
      deputies: deputiesOf(world.domain, channel, inputs.at),
      approvals,
      timeoutMs: timeoutFor(compiled, [...found, ...callRules]),
      freezes:
        compiled.approvalDemand?.reason === 'contradiction' && finding === undefined
          ? []
          : freezesOf(world, compiled, draft, changes, marks, calls.all),
    };
  } catch (error) {
    mark.undo();
    return rejected(compiled, {
      reason: 'precondition_failed',
      detail: `onApprove of ${compiled.name}: ${messageOf(error)}`,
    });
  }
}

/**
 * An irreversible effect is the first fact that the approver must know, even if a rule asks for the
 * approval.
 */
function reasonOf({ approvalDemand }: Compiled, finding: Finding | undefined): Escalated['reason'] {
  if (
    approvalDemand === undefined ||
    (finding !== undefined && approvalDemand.reason !== 'irreversible')
  )
    return 'invariant_escalated';
  return approvalDemand.reason;
}

/**
 * The changed places and all places that the checks read, the approval mark included
 * (docs/decisions/009-freeze.md). Under `reserve`, only the changed members. Nothing is frozen if
 * no counselor can decide: without counselors the queue only grows (Agentic Redux, Definition
 * A.35).
 */
function freezesOf(
  { domain, checks }: World,
  { binding }: Compiled,
  draft: Draft,
  changes: readonly Change[],
  marks: readonly Change[],
  calls: readonly ProposedCall[],
): 'world' | readonly string[] {
  if (Object.keys(domain.counselors).length === 0) return [];
  if (domain.freeze === 'world') return 'world';
  if (domain.freeze === 'reserve')
    return reservedPlaces(domain, [...changes, ...marks]).map(patternText);
  const frozen = [
    ...binding.reads,
    ...binding.writes,
    ...checks.readBy(draft.state, changes, calls),
  ];
  // A change may create an object that leads to a place of the footprint.
  const changed = [...changes, ...marks].map(({ keys }) => ({ segments: keys, append: false }));
  frozen.push(...changed.filter((place) => !contains(frozen, place)));
  return [...new Set(frozen.map(patternText))];
}

/** The changed members, or the changed places that lie in no member. */
export function reservedPlaces(
  domain: Domain,
  changes: readonly Pick<Change, 'keys'>[],
): readonly Pattern[] {
  const members = changes.map(
    ({ keys }): Pattern => ({ segments: memberAround(domain, keys), append: false }),
  );
  return [...new Map(members.map((member) => [patternText(member), member])).values()];
}

/** The innermost member of a rule that a path leads into; else the path itself. */
function memberAround({ rulesByPath }: Domain, path: readonly string[]): readonly string[] {
  let depth = 0;
  rulesByPath.match(path, ({ member, aggregates }) => {
    for (const pattern of [member, ...aggregates.map((plan) => plan.path)]) {
      if (pattern === undefined || pattern.segments.length > path.length) continue;
      if (overlapsPattern(pattern, path)) depth = Math.max(depth, pattern.segments.length);
    }
  });
  return depth === 0 ? path : path.slice(0, depth);
}

function copied(patches: readonly PatchOperation[]): PatchOperation[] {
  return copyJson(patches, WORLD_LIMITS) as unknown as PatchOperation[];
}

/**
 * All places that an approval may touch, by its footprints. A rule that did not pass before counts
 * even if the proposal's writes do not overlap it.
 */
export function closureOf(
  { binding }: Compiled,
  finding: Pick<Finding, 'rule' | 'keys'> | undefined,
): { patterns: readonly Pattern[]; scope: Scope } {
  const read = finding === undefined ? [] : readBy(finding);
  const more = read.filter((pattern) => !contains(binding.closure, pattern));
  if (more.length === 0) return { patterns: binding.closure, scope: binding.closureScope };
  const patterns = [...binding.closure, ...more];
  return { patterns, scope: compileScope(patterns) };
}

/**
 * Lets the action and the escalating rule write each approval into the state, in order
 * (docs/decisions/006-approvals.md).
 */
export function markApprovals(
  draft: Draft,
  compiled: Compiled,
  finding: Pick<Finding, 'rule' | 'keys'> | undefined,
  approvals: readonly Mark[],
): void {
  const { action, args, role } = compiled;
  const { scope } = closureOf(compiled, finding);
  for (const approval of approvals) {
    draft.within(scope, (state) => {
      refusePromise(
        action.onApprove?.(state, args, { ...approval, role: role.params }),
        'onApprove',
      );
      refusePromise(
        finding?.rule.spec.onApprove?.(state, { ...approval, keys: finding.keys }),
        'onApprove',
      );
    });
  }
}
