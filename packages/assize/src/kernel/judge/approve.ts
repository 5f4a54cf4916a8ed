import { isAssizeError, isInstance } from '#base';
import { canonicalize, toPointer, WORLD_LIMITS } from '#canon';
import type { Change } from '../domain/change.ts';
import type { Domain, Rule } from '../domain/domain.ts';
import type { CounseledProposal } from '../domain/domain-spec.ts';
import {
  changeOutside,
  compileScope,
  type Pattern,
  patternFromText,
  WHOLE_STATE,
} from '../domain/footprint.ts';
import { isOverridable } from '../domain/invariant.ts';
import type { InvariantResult } from '../domain/invariant-result.ts';
import { changesFault } from '../domain/schema.ts';
import { hasErased } from '../domain/sensitive.ts';
import { KernelError, messageOf, PROPOSE_AGAIN_HINT } from '../errors.ts';
import { changesOf } from '../state/changes.ts';
import type { Draft } from '../state/draft.ts';
import { applyOperation } from '../state/operations.ts';
import { type PatchOperation, patchesOf } from '../state/patches.ts';
import { closureOf, type Mark, markApprovals, placeholderMarks } from './adjudicate.ts';
import { callsOf } from './calls.ts';
import { runApply } from './candidate.ts';
import {
  approvalsFor,
  channelOf,
  checkAnother,
  counselorKind,
  type NamedDeputy,
} from './channel.ts';
import { compile } from './compile.ts';
import type { Authority, Compiled, Cost, Intent } from './compiled.ts';
import { ERASE_ACTION } from './erase.ts';
import type { Finding } from './finding.ts';
import { detailOf, detectionVector, escalatingCallRules } from './full-check.ts';
import type { Inputs } from './inputs.ts';
import { type HeldBy, heldDraft, type Reservation } from './reservations.ts';
import type { World } from './world.ts';

type Vector = readonly ReturnType<typeof detectionVector>[number][];

/** A pending proposal, as its pending entry records it. */
export interface PendingProposal {
  readonly intent: Intent;
  readonly inputs: Inputs;
  readonly patches: readonly PatchOperation[];
  readonly approval: readonly PatchOperation[];
  readonly invariantId?: string;
  readonly channel: string;
  readonly deputies?: readonly NamedDeputy[];
  /** The number of different approvers that it needs, and the approvers so far. */
  readonly approvals: number;
  readonly approvedBy: readonly Approver[];
  readonly freezes: 'world' | readonly string[];
  /** The requester, and the grantors of its writ. None of them may approve. */
  readonly requesters: readonly string[];
}

/** One of several approvers of a pending proposal. */
export interface Approver {
  readonly principal: string;
  /** The other principals that made the token of the approval. */
  readonly token_by?: readonly string[];
  readonly at: string;
  readonly override?: boolean;
  /** The violations that the approver overrode. Absent if they were not recorded. */
  readonly overridden?: Vector;
}

export interface CounselorApproval {
  readonly principal: string;
  /** The other principals that made the counselor's token. */
  readonly tokenBy?: readonly string[];
  readonly at: string;
  /**
   * Commit although the result does not pass every invariant. The vector shows the violations.
   * Every approver must set it for the same violations. `isOverridable` says which violations an
   * override may cover.
   */
  readonly override?: boolean;
  /**
   * The decision is in the ledger. There an override may cover every rejection but those of final
   * rules, as it did before rules declared `overridable`. Default: false.
   */
  readonly isRecorded?: boolean;
  /**
   * The counselor's own state instead of the proposal's, as RFC 6902 operations on the current
   * state (Agentic Redux, Definition A.62). Allowed only if one approval is enough: other approvers
   * would not have seen it. Refused where the proposal has tool calls, statements of facts or a
   * cost: these would go out as they were proposed.
   */
  readonly replacement?: readonly PatchOperation[];
}

export interface CounselorCommit {
  /** The counselor kind of the principal. */
  readonly as: string;
  readonly compiled: Compiled;
  readonly changes: readonly Change[];
  readonly vector: Vector;
  /** The part of the vector that does not pass. */
  readonly broken: Vector;
  /** The violations that the approver overrides: `broken`, and those of the earlier approvers. */
  readonly overrides: Vector;
  readonly overridden: boolean;
  /**
   * Whether all required approvers have approved. If not, the change must be undone: it only shows
   * that it would be committed.
   */
  readonly complete: boolean;
  /** The changes as the ledger records them. Call before `keep` or `undo`. */
  patches(): PatchOperation[];
  /** All paths that the rules read to check it. Call before `keep` or `undo`. */
  checkedAgainst(): readonly Pattern[];
  keep(): void;
  undo(): void;
  /**
   * The other waiting proposal that the change would spoil (`freeze: 'reserve'`), by a rule that is
   * not overridden. The change is then undone. Call it at most once, before the others.
   */
  heldBy<Waiting extends Reservation>(others: readonly Waiting[]): HeldBy<Waiting> | undefined;
}

/**
 * Commits a pending proposal: with the marks of all approvers, or as the counselor's own state. The
 * rerun must produce the change that was submitted for approval. The result must pass every
 * invariant or be overridden, and the vector records both. If several approvals are needed, each
 * approver must be different and approve the same change. On an error the state is unchanged.
 *
 * @throws KernelError `unauthorised_counselor`, `already_approved`, `changed_since`,
 * `override_needed`, `final_rule`, `invalid_state`
 */
export function approvePending(
  world: World,
  waiting: PendingProposal,
  counselor: CounselorApproval,
  authority: Authority,
): CounselorCommit {
  const as = counselorKind(
    world.domain,
    waiting.channel,
    counselor.principal,
    waiting.requesters,
    seenOf(waiting),
    { ...waiting, at: counselor.at },
  );
  checkAnother(counselor, waiting.approvedBy);
  const compiled = compile(world.domain, waiting.intent, authority, { parsed: true });
  if ('reason' in compiled)
    throw compiled.reason === 'invalid_authority'
      ? changedSinceError(compiled.detail, {}, 'The proposal cannot be approved any more')
      : changedSinceError(`${compiled.reason}: ${compiled.detail}`);
  const { replacement } = counselor;
  if (replacement !== undefined) {
    // No rule that sets a number of approvals checks a counselor's own state.
    const rule = world.domain.rules.find(({ id }) => id === waiting.invariantId);
    checkApprovals(waiting, approvalsFor(compiled, rule && { rule }));
    checkReplacement(waiting, compiled, replacement);
  }
  return counseled(world, as, counselor, invalidReplacement, (draft) => ({
    waiting,
    compiled,
    ...(replacement === undefined
      ? approveExactly(world, waiting, counselor, compiled, draft)
      : { open: replace(draft, waiting, replacement) }),
  }));
}

/** The origin of a draft with the approved state. */
export interface Produced {
  readonly waiting: PendingProposal;
  readonly compiled: Compiled;
  /** The patterns that may have changed. */
  readonly open: readonly Pattern[];
  /** The rules that only escalate because approvals are missing. Default: none. */
  readonly settled?: ReadonlySet<string>;
  /** Advice to the approver of a state that does not pass. Default: by the rules. */
  readonly advice?: string;
}

/**
 * The commit of a counselor's decision. `produce`: writes the approved state into the draft.
 * `invalid`: the error for a state that does not fit. On an error the state is unchanged.
 */
export function counseled(
  world: World,
  as: string,
  counselor: CounselorApproval,
  invalid: (message: string, cause?: unknown) => KernelError,
  produce: (draft: Draft) => Produced,
): CounselorCommit {
  const draft = world.draft();
  try {
    const { waiting, compiled, open, settled = NO_RULES, advice } = produce(draft);
    const changes = changesOf(draft);
    const outside = changeOutside(open, changes);
    if (outside !== undefined)
      throw invalid(
        `The approved state changes ${toPointer(outside.keys)}, which this proposal does not freeze.`,
      );
    const fault = changesFault(world.domain.state, draft.state, changes);
    if (fault !== undefined) throw invalid(`The approved state does not fit the domain: ${fault}.`);
    const vector = approvedVector(world, waiting, draft.state).map((item) =>
      item.result === 'escalate' && settled.has(item.invariant_id) ? passed(item) : item,
    );
    const broken = vector.filter(({ result }) => result !== 'pass');
    const overrides = overridesOf(world.domain, waiting.approvedBy, broken);
    checkOverride(world.domain, waiting, counselor, { broken, overrides, advice });
    let step: { readonly draft: Draft; readonly changes: readonly Change[] } = { draft, changes };
    const commit: { -readonly [Member in keyof CounselorCommit]: CounselorCommit[Member] } = {
      as,
      compiled,
      changes,
      vector,
      broken,
      overrides,
      overridden: isOverride(waiting, broken),
      complete: missingApprovals(waiting) === 0,
      patches: () => patchesOf(world.domain, step.draft.state, step.changes),
      checkedAgainst: () =>
        world.checks.readBy(step.draft.state, step.changes, waiting.inputs.calls),
      keep: () => {
        world.adopt(step.draft);
        world.checks.restart(world.state);
      },
      undo: () => world.rollback(step.draft),
      heldBy: (others) => {
        const judged = heldDraft(world, step, others);
        if ('held' in judged) return judged.held;
        step = judged;
        commit.changes = step.changes;
        return undefined;
      },
    };
    return commit;
  } catch (error) {
    world.rollback(draft);
    if (isInstance(error, KernelError)) throw error;
    throw invalid(`The approved state cannot be computed: ${messageOf(error)}.`, error);
  }
}

/**
 * Every rule's result on the approved state. An escalation of a rule over calls is settled by the
 * approval itself, because calls leave no mark in the state. The channel and the number of
 * approvers must cover the rule's own.
 */
function approvedVector(
  { domain }: World,
  waiting: PendingProposal,
  state: Draft['state'],
): Vector {
  const kinds = waiting.channel.split('+');
  const isSettled = ({ spec }: Rule): boolean =>
    spec.kind === 'eachCall' &&
    (spec.channel === undefined || kinds.includes(spec.channel)) &&
    (spec.approvals ?? 1) <= waiting.approvals;
  return detectionVector(domain, state, waiting.inputs.calls).map((item, index) =>
    item.result === 'escalate' && isSettled(domain.rules[index] as Rule) ? passed(item) : item,
  );
}

function passed({ invariant_id }: Vector[number]): Vector[number] {
  return { invariant_id, result: 'pass' };
}

/** The number of approvals that are missing after the present one. */
function missingApprovals({ approvals, approvedBy }: PendingProposal): number {
  return Math.max(approvals - approvedBy.length - 1, 0);
}

const NO_RULES: ReadonlySet<string> = new Set();

/** The members of a pending proposal that a counselor predicate sees. */
export function seenOf({
  intent,
  inputs,
}: Pick<PendingProposal, 'intent' | 'inputs'>): CounseledProposal {
  return { ...intent, ...(inputs.calls === undefined ? {} : { calls: inputs.calls }) };
}

/**
 * The difference of a pending proposal in another world, such as under the next version of the
 * domain. Undefined if the same changes are escalated for the same reason. The state is as before.
 * `cost`: the recorded cost. Undefined: tools are part of it.
 */
export function pendingDifference(
  world: World,
  waiting: PendingProposal,
  authority: Authority,
  cost: Cost | undefined,
): string | undefined {
  const draft = world.draft();
  try {
    const compiled = compile(world.domain, waiting.intent, authority, { parsed: true });
    if ('reason' in compiled) return `${compiled.reason}: ${compiled.detail}`;
    const now = canonicalize(compiled.cost);
    if (cost !== undefined && now !== canonicalize(cost)) return `its cost is now ${now}`;
    const finding = rerun(world, waiting, compiled, draft);
    const channel = channelOf(compiled, finding, callRulesOf(world, waiting, draft));
    if (channel !== waiting.channel)
      return `the counselor is now ${channel}, not ${waiting.channel}`;
    const isSame = same(markOf(world, waiting, compiled, draft, finding), waiting.approval);
    return isSame ? undefined : 'the approval would now be recorded differently';
  } catch (error) {
    return messageOf(error);
  } finally {
    world.rollback(draft);
  }
}

/** The marks of all approvals on the changed state, with placeholders. The draft is as before. */
function markOf(
  world: World,
  { approvals, inputs }: PendingProposal,
  compiled: Compiled,
  draft: Draft,
  finding: Finding | undefined,
): readonly PatchOperation[] {
  const preview = world.draft(draft.state);
  try {
    markApprovals(preview, compiled, finding, placeholderMarks(approvals, inputs.at));
    return patchesOf(world.domain, preview.state, changesOf(preview));
  } finally {
    preview.undo();
    draft.exchangeRoot(preview.state);
  }
}

/** An approved state: its open patterns, and the escalations that need no override. */
interface ApprovedState {
  readonly open: readonly Pattern[];
  /** The rules that only escalate because approvals are missing. */
  readonly settled: ReadonlySet<string>;
}

/** Writes the proposal and the marks of its approvers so far, the present one included. */
function approveExactly(
  world: World,
  waiting: PendingProposal,
  { principal, at }: CounselorApproval,
  compiled: Compiled,
  draft: Draft,
): ApprovedState {
  const finding = rerun(world, waiting, compiled, draft);
  const marked = <T>(marks: readonly Mark[], look: (preview: Draft) => T): T => {
    const preview = world.draft(draft.state);
    try {
      markApprovals(preview, compiled, finding, marks);
      return look(preview);
    } finally {
      preview.undo();
      draft.exchangeRoot(preview.state);
    }
  };
  const rulesWith = (result: InvariantResult['result'], marks: readonly Mark[]): string[] =>
    marked(marks, ({ state }) => approvedVector(world, waiting, state))
      .filter((item) => item.result === result)
      .map(({ invariant_id }) => invariant_id);
  const { approvals, approvedBy, inputs } = waiting;
  const placeholders = placeholderMarks(approvals, inputs.at);
  const approval = markedAgain(() =>
    marked(placeholders, (preview) => patchesOf(world.domain, preview.state, changesOf(preview))),
  );
  if (!same(approval, waiting.approval))
    throw differsError(
      'the approval would now be recorded differently',
      differenceOf(waiting.approval, approval),
    );

  const given = [
    ...approvedBy.map((one) => ({ counselor: one.principal, at: one.at })),
    { counselor: principal, at },
  ];
  // A rule that wants several names escalates for any first approver, and passes with the last.
  const isLast = missingApprovals(waiting) === 0;
  const early = isLast ? [] : rulesWith('escalate', placeholders.slice(0, given.length));
  markApprovals(draft, compiled, finding, given);
  const late = early.length === 0 ? [] : rulesWith('pass', placeholders.slice(given.length));
  return {
    open: closureOf(compiled, finding).patterns,
    settled: new Set(late.filter((id) => early.includes(id))),
  };
}

/** The mark could be made when the proposal was submitted. */
function markedAgain<T>(mark: () => T): T {
  try {
    return mark();
  } catch (error) {
    throw differsError(`onApprove: ${messageOf(error)}`);
  }
}

/** Runs the proposal again. Its changes and statements must equal those submitted for approval. */
function rerun(
  world: World,
  waiting: PendingProposal,
  compiled: Compiled,
  draft: Draft,
): Finding | undefined {
  try {
    runApply(draft, compiled, waiting.inputs);
  } catch (error) {
    throw differsError(messageOf(error));
  }
  const changes = changesOf(draft);
  const patches = patchesOf(world.domain, draft.state, changes);
  if (!same(patches, waiting.patches))
    throw differsError(
      'the action would now make other changes',
      differenceOf(waiting.patches, patches),
    );
  const calls = callsOf(world.domain, compiled, draft.state, waiting.inputs);
  if ('reason' in calls) throw differsError(calls.detail);
  const { finding } = world.checks.checkChanges(draft.state, changes, calls.all);
  if (finding?.rule.id !== waiting.invariantId || finding?.result.result === 'reject')
    throw differsError(`it is now ${rulingOf(finding)}`);
  checkApprovals(waiting, approvalsFor(compiled, finding, callRulesOf(world, waiting, draft)));
  return finding;
}

function callRulesOf(
  { domain }: World,
  { inputs }: PendingProposal,
  draft: Draft,
): readonly Finding[] {
  return escalatingCallRules(domain, draft.state, inputs.calls ?? []);
}

function rulingOf(finding: Finding | undefined): string {
  if (finding === undefined) return 'not escalated';
  const does = finding.result.result === 'reject' ? 'rejected' : 'escalated';
  return `${does} by ${finding.rule.id}: ${detailOf(finding)}`;
}

function same(now: readonly PatchOperation[], then: readonly PatchOperation[]): boolean {
  return canonicalize(now, WORLD_LIMITS) === canonicalize(then, WORLD_LIMITS);
}

/**
 * The proposal does something else on the current state. The evidence has the difference, so that
 * the caller can record it.
 */
function differsError(what: string, places: readonly string[] = []): KernelError {
  return changedSinceError(what, { difference: [what, ...places].join('; ') });
}

function changedSinceError(
  what: string,
  evidence = {},
  because = 'The proposal has changed since it was submitted',
): KernelError {
  const why = `${because}: ${what.replace(/\.$/, '')}`;
  return new KernelError('changed_since', `${why}. ${PROPOSE_AGAIN_HINT}.`, { evidence });
}

/** Maximum number of places in a difference, and of characters of one value. */
const PLACES_MAX = 10;
const VALUE_MAX = 100;

/** The places at which two lists of operations differ, with both values. */
function differenceOf(then: readonly PatchOperation[], now: readonly PatchOperation[]): string[] {
  const [before, after] = [then, now].map(
    (patches) => new Map(patches.map((patch) => [patch.path, patch])),
  );
  const paths = [...new Set([...then, ...now].map(({ path }) => path))];
  const differing = paths.filter((path) => textOf(before?.get(path)) !== textOf(after?.get(path)));
  const places = differing
    .slice(0, PLACES_MAX)
    .map(
      (path) =>
        `${path}: ${shown(before?.get(path))} when submitted, ${shown(after?.get(path))} now`,
    );
  return differing.length > PLACES_MAX
    ? [...places, `${differing.length - PLACES_MAX} more places`]
    : places;
}

function textOf(patch: PatchOperation | undefined): string {
  return patch === undefined ? '' : canonicalize(patch, WORLD_LIMITS);
}

/** The difference is stored as text, and no erasure reaches that. So sensitive values stay out. */
function shown(patch: PatchOperation | undefined): string {
  if (patch === undefined) return 'no change';
  if (patch.op === 'remove') return 'removed';
  if (patch.sensitive === true) return 'a sensitive value';
  const text = canonicalize(patch.value, WORLD_LIMITS);
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
}

function checkApprovals({ approvals }: PendingProposal, needed: number): void {
  if (needed !== approvals)
    throw changedSinceError(`it needs ${needed} approvals, not ${approvals}`);
}

/** Whether the present approver overrides. An override of one approver is asked of all others. */
function isOverride({ approvedBy }: PendingProposal, broken: Vector): boolean {
  return broken.length > 0 || approvedBy.some(({ override }) => override === true);
}

/**
 * The violations that the present approver overrides, in the order of the rules: those of the
 * approved state, and those that earlier approvers overrode and that pass now.
 */
export function overridesOf(
  { rules }: Domain,
  approvedBy: readonly Pick<Approver, 'overridden'>[],
  broken: Vector,
): Vector {
  const all = [...approvedBy.flatMap(({ overridden = [] }) => overridden), ...broken];
  const byRule = new Map(all.map((item) => [item.invariant_id, item]));
  return rules.flatMap(({ id }) => byRule.get(id) ?? []);
}

/**
 * A violation commits only if every approver overrides it, and knows it, and if its rule may be
 * overridden.
 */
function checkOverride(
  domain: Domain,
  waiting: PendingProposal,
  { override, isRecorded = false }: CounselorApproval,
  {
    broken,
    overrides,
    advice,
  }: { readonly broken: Vector; readonly overrides: Vector; readonly advice: string | undefined },
): void {
  const finals = broken.filter(({ invariant_id, result }) => {
    const spec = domain.rules.find(({ id }) => id === invariant_id)?.spec;
    return spec !== undefined && !isOverridable(spec, isRecorded ? 'escalate' : result);
  });
  if (finals.length > 0) throw finalError(finals, advice ?? 'Reject the proposal.');
  if (!isOverride(waiting, broken)) return;
  const { approvedBy } = waiting;
  const unaware = approvedBy.find((one) => one.override !== true);
  if (unaware !== undefined)
    throw overrideNeeded(
      `The approved state does not pass ${vectorDetail(broken)}, and ${unaware.principal} approved it without override. ${PROPOSE_AGAIN_HINT}.`,
      overrides,
    );
  if (override === true) {
    checkSeen(waiting, broken);
    return;
  }
  const [first] = approvedBy;
  throw overrideNeeded(
    first === undefined
      ? `The approved state does not pass ${vectorDetail(broken)}. ${advice ?? adviceOn(domain, broken)}`
      : `${first.principal} approved although the proposal did not pass ${vectorDetail(overrides)}. ${PROPOSE_AGAIN_HINT}.`,
    overrides,
  );
}

/** An approval settles a rule over calls itself. Other rules read the marks of `onApprove`. */
function adviceOn({ rules }: Domain, broken: Vector): string {
  const isMarked = broken.some(({ invariant_id: id }) =>
    rules.some((rule) => rule.id === id && rule.spec.kind !== 'eachCall'),
  );
  return isMarked
    ? 'Reject the proposal, or correct onApprove so that an approval makes the rule pass.'
    : 'Reject the proposal, and have it proposed so that the rule passes.';
}

function finalError(finals: Vector, advice: string): KernelError {
  const ids = finals.map(({ invariant_id }) => invariant_id).join(', ');
  return new KernelError(
    'final_rule',
    `The approved state does not pass ${vectorDetail(finals)}. No approval overrides ${ids}. ${advice} A rejection can be overridden only if its rule declares \`overridable\`, an escalation unless its rule is \`final\`.`,
    { evidence: { vector: finals } },
  );
}

function overrideNeeded(message: string, vector: Vector): KernelError {
  // Some items belong to the pending proposal.
  return new KernelError('override_needed', message, {
    evidence: { vector: vector.map((item) => ({ ...item })) },
  });
}

/**
 * Between two approvals another rule may have failed. The words of the rule that escalated follow
 * the marks of the approvers, so only its result is compared.
 */
function checkSeen({ approvedBy, invariantId }: PendingProposal, broken: Vector): void {
  const violation = ({ invariant_id, result, detail }: Vector[number]): string =>
    canonicalize({
      invariant_id,
      result,
      ...(detail === undefined || invariant_id === invariantId ? {} : { detail }),
    });
  for (const { principal, overridden } of approvedBy) {
    if (overridden === undefined) continue;
    const seen = new Set(overridden.map(violation));
    const unseen = broken.filter((item) => !seen.has(violation(item)));
    if (unseen.length > 0)
      throw changedSinceError(
        `${principal} approved it with override when ${vectorDetail(overridden)}, and now ${vectorDetail(unseen)}`,
      );
  }
}

function vectorDetail(vector: Vector): string {
  return vector.map(({ invariant_id, detail }) => `${invariant_id}: ${detail}`).join(', ');
}

/**
 * A counselor must not replace one half of a proposal, nor the changes of an erasure, nor make it
 * look complete.
 */
function checkReplacement(
  { approvals, inputs }: PendingProposal,
  { name, statements, cost }: Compiled,
  replacement: readonly PatchOperation[],
): void {
  const others = [
    ...((inputs.calls ?? []).length > 0 ? ['tool calls'] : []),
    ...(statements.length > 0 ? ['statements of facts'] : []),
    ...(Object.keys(cost).length > 0 ? ['a cost'] : []),
  ];
  if (others.length > 0)
    throw invalidReplacement(
      `A replacement changes the state only, and the proposal also has ${others.join(' and ')}. Reject it, and have it proposed with other arguments.`,
    );
  if (approvals > 1)
    throw invalidReplacement(
      `A proposal that needs ${approvals} approvals cannot be replaced. Approve or reject it.`,
    );
  if (name === ERASE_ACTION)
    throw invalidReplacement('An erasure cannot be replaced. Approve or reject it.');
  try {
    canonicalize(replacement, { ...WORLD_LIMITS, foreign: true });
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw invalidReplacement(`The approved state is not JSON: ${error.message}`, error);
  }
  if (hasErased(replacement))
    throw invalidReplacement(
      'The state has a value that is marked as erased. Only an erasure writes that mark.',
    );
}

function invalidReplacement(message: string, cause?: unknown): KernelError {
  return new KernelError('invalid_state', message, { cause });
}

/**
 * Writes the counselor's own operations, in the part of the state that is frozen for the decision.
 */
function replace(
  draft: Draft,
  { freezes }: PendingProposal,
  patches: readonly PatchOperation[],
): readonly Pattern[] {
  const open = freezes === 'world' ? [WHOLE_STATE] : freezes.map(patternFromText);
  draft.within(compileScope(open), (state) => {
    for (const patch of patches) {
      try {
        applyOperation(state, patch);
      } catch (error) {
        const what = `The operation ${patch?.op} ${patch?.path} cannot be applied: ${messageOf(error)}.`;
        throw invalidReplacement(what, error);
      }
    }
  });
  return open;
}
