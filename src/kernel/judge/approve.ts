import { isAssizeError } from '#base';
import { canonicalize, escapeSegment, parsePointer, toPointer, WORLD_LIMITS } from '#canon';
import type { Change } from '../domain/change.ts';
import type { Rule } from '../domain/domain.ts';
import { changeOutside, compileScope, type Pattern, patternFromText, WHOLE_STATE } from '../domain/footprint.ts';
import { changesFault } from '../domain/schema.ts';
import { hasErased } from '../domain/sensitive.ts';
import { KernelError, messageOf, PROPOSE_AGAIN_HINT } from '../errors.ts';
import { changesOf } from '../state/changes.ts';
import { Draft } from '../state/draft.ts';
import { type PatchOperation, patchesOf } from '../state/patches.ts';
import { COUNSELOR_PLACEHOLDER, closureOf, markApproval } from './adjudicate.ts';
import { callsOf } from './calls.ts';
import { runApply } from './candidate.ts';
import { approvalsFor, checkAnother, counselorKind } from './channel.ts';
import { compile } from './compile.ts';
import type { Authority, Compiled, Intent } from './compiled.ts';
import { ERASE_ACTION } from './erase.ts';
import type { Finding } from './finding.ts';
import { detectionVector } from './full-check.ts';
import type { Inputs } from './inputs.ts';
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
  /** The number of different approvers that it needs, and the approvers so far. */
  readonly approvals: number;
  readonly approvedBy: readonly {
    readonly principal: string;
    readonly override?: boolean;
    /**
     * The violations at the time of an approval with override. Absent if they were not recorded.
     */
    readonly overridden?: Vector;
  }[];
  readonly freezes: 'world' | readonly string[];
  /** The requester and the grantors of the writ down from its root. None of them may approve. */
  readonly requesters: readonly string[];
}

export interface CounselorApproval {
  readonly principal: string;
  readonly at: string;
  /**
   * Commit although the result does not pass every invariant. The vector shows the violations.
   * Every approver must set it.
   */
  readonly override?: boolean;
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
  readonly overridden: boolean;
  /**
   * Whether all required approvers have approved. If not, the change must be undone: it only shows
   * that it would be committed.
   */
  readonly complete: boolean;
  /** The changes as the ledger records them. Call before `keep` or `undo`. */
  patches(): PatchOperation[];
  keep(): void;
  undo(): void;
}

/**
 * Commits a pending proposal: with its approval mark, or as the counselor's own state. The rerun
 * must produce the change that was submitted for approval. The result must pass every invariant or
 * be overridden, and the vector records both. If several approvals are needed, each approver must
 * be different and approve the same change. On an error the state is unchanged.
 *
 * @throws KernelError `unauthorised_counselor`, `already_approved`, `changed_since`,
 * `override_needed`, `invalid_replacement`
 */
export function approvePending(
  world: World,
  waiting: PendingProposal,
  counselor: CounselorApproval,
  authority: Authority,
): CounselorCommit {
  const as = counselorKind(world.domain, waiting.channel, counselor.principal, waiting.requesters);
  checkAnother(counselor.principal, waiting.approvedBy);
  const compiled = compile(world.domain, waiting.intent, authority, { parsed: true });
  if ('reason' in compiled) throw changedSinceError(`${compiled.reason}: ${compiled.detail}`);
  checkApprovals(world, waiting, compiled);
  if (counselor.replacement !== undefined) checkReplacement(waiting, compiled, counselor.replacement);
  const draft = new Draft(world.state, world.owned);
  try {
    const open =
      counselor.replacement === undefined
        ? approveExactly(world, waiting, counselor, compiled, draft)
        : replace(draft, waiting, counselor.replacement);
    const changes = changesOf(draft);
    const outside = changeOutside(open, changes);
    if (outside !== undefined)
      throw invalidReplacement(
        `The approved state changes ${toPointer(outside.keys)}, which this proposal does not freeze.`,
      );
    const fault = changesFault(world.domain.state, draft.state, changes);
    if (fault !== undefined) throw invalidReplacement(`The approved state does not fit the domain: ${fault}.`);
    const vector = approvedVector(world, waiting, draft.state);
    const broken = vector.filter(({ result }) => result !== 'pass');
    if (broken.length > 0) checkOverride(waiting, counselor, broken);
    return {
      as,
      compiled,
      changes,
      vector,
      broken,
      overridden: broken.length > 0,
      complete: waiting.approvedBy.length + 1 >= waiting.approvals,
      patches: () => patchesOf(world.domain, draft.state, changes),
      keep: () => {
        world.adopt(draft);
        world.checks.restart(world.state);
      },
      undo: () => world.rollback(draft),
    };
  } catch (error) {
    world.rollback(draft);
    if (error instanceof KernelError) throw error;
    throw invalidReplacement(`The approved state cannot be computed: ${messageOf(error)}.`, error);
  }
}

/**
 * Every rule's result on the approved state. An escalation of a rule over calls is settled by the
 * approval itself, because calls leave no mark in the state. The channel and the number of
 * approvers must cover the rule's own.
 */
function approvedVector({ domain }: World, waiting: PendingProposal, state: Draft['state']): Vector {
  const kinds = waiting.channel.split('+');
  const isSettled = ({ spec }: Rule): boolean =>
    spec.kind === 'eachCall' &&
    (spec.channel === undefined || kinds.includes(spec.channel)) &&
    (spec.approvals ?? 1) <= waiting.approvals;
  return detectionVector(domain, state, waiting.inputs.calls).map((item, index) =>
    item.result === 'escalate' && isSettled(domain.rules[index] as Rule)
      ? { invariant_id: item.invariant_id, result: 'pass' }
      : item,
  );
}

/** Both ways of producing the approved state return the patterns that they may have changed. */
function approveExactly(
  world: World,
  waiting: PendingProposal,
  counselor: CounselorApproval,
  compiled: Compiled,
  draft: Draft,
): readonly Pattern[] {
  const finding = rerun(world, waiting, compiled, draft);
  const preview = new Draft(draft.state, world.owned);
  try {
    markApproval(preview, compiled, finding, { counselor: COUNSELOR_PLACEHOLDER, at: waiting.inputs.at });
    if (!same(patchesOf(world.domain, preview.state, changesOf(preview)), waiting.approval))
      throw changedSinceError('the approval would now be recorded differently');
  } finally {
    preview.undo();
    draft.exchangeRoot(preview.state);
  }
  markApproval(draft, compiled, finding, { counselor: counselor.principal, at: counselor.at });
  return closureOf(compiled, finding).patterns;
}

/** Runs the proposal again. Its changes and statements must equal those submitted for approval. */
function rerun(world: World, waiting: PendingProposal, compiled: Compiled, draft: Draft): Finding | undefined {
  try {
    runApply(draft, compiled, waiting.inputs);
  } catch (error) {
    throw changedSinceError(messageOf(error));
  }
  const changes = changesOf(draft);
  if (!same(patchesOf(world.domain, draft.state, changes), waiting.patches))
    throw changedSinceError('the action would now make other changes');
  const calls = callsOf(world.domain, compiled, draft.state, waiting.inputs);
  if ('reason' in calls) throw changedSinceError(calls.detail);
  const { finding } = world.checks.checkChanges(draft.state, changes, calls.all);
  if (finding?.rule.id !== waiting.invariantId || finding?.result.result === 'reject') {
    throw changedSinceError(`it is now ${finding === undefined ? 'not escalated' : `escalated by ${finding.rule.id}`}`);
  }
  return finding;
}

function same(now: readonly PatchOperation[], then: readonly PatchOperation[]): boolean {
  return canonicalize(now, WORLD_LIMITS) === canonicalize(then, WORLD_LIMITS);
}

function changedSinceError(what: string): KernelError {
  return new KernelError(
    'changed_since',
    `The proposal has changed since it was submitted: ${what.replace(/\.$/, '')}. ${PROPOSE_AGAIN_HINT}.`,
  );
}

/** Before any run: no rule that sets a number of approvals checks a counselor's own state. */
function checkApprovals({ domain }: World, { invariantId, approvals }: PendingProposal, compiled: Compiled): void {
  const rule = domain.rules.find(({ id }) => id === invariantId);
  const needed = approvalsFor(compiled, rule && { rule });
  if (needed !== approvals) throw changedSinceError(`it needs ${needed} approvals, not ${approvals}`);
}

/** Every approver that overrides a rule must know the violation and its detail. */
function checkOverride({ approvedBy }: PendingProposal, { override }: CounselorApproval, broken: Vector): void {
  const unaware = approvedBy.find((one) => one.override !== true);
  if (override === true && unaware === undefined) {
    checkSeen(approvedBy, broken);
    return;
  }
  const what = `The approved state does not pass ${broken.map((item) => item.invariant_id).join(', ')}`;
  const then =
    unaware === undefined
      ? 'approve it with override to commit it anyway'
      : `${unaware.principal} approved it without override. ${PROPOSE_AGAIN_HINT}`;
  throw new KernelError('override_needed', `${what}; ${then}.`, { evidence: { vector: broken } });
}

/** Outside the frozen part, another rule may have failed between two approvals. */
function checkSeen(approvedBy: PendingProposal['approvedBy'], broken: Vector): void {
  for (const { principal, overridden } of approvedBy) {
    if (overridden === undefined) continue;
    const seen = new Set(overridden.map((item) => canonicalize(item)));
    const unseen = broken.filter((item) => !seen.has(canonicalize(item)));
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
    throw invalidReplacement(`A proposal that needs ${approvals} approvals cannot be replaced. Approve or reject it.`);
  if (name === ERASE_ACTION) throw invalidReplacement('An erasure cannot be replaced. Approve or reject it.');
  try {
    canonicalize(replacement, { ...WORLD_LIMITS, foreign: true });
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw invalidReplacement(`The approved state is not JSON: ${error.message}`, error);
  }
  if (hasErased(replacement))
    throw invalidReplacement('The state has a value that is marked as erased. Only an erasure writes that mark.');
}

function invalidReplacement(message: string, cause?: unknown): KernelError {
  return new KernelError('invalid_replacement', message, { cause });
}

/**
 * Writes the counselor's own operations, in the part of the state that is frozen for the decision.
 */
function replace(draft: Draft, { freezes }: PendingProposal, patches: readonly PatchOperation[]): readonly Pattern[] {
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

function applyOperation(state: object, patch: PatchOperation): void {
  const keys = parsePointer(patch.path);
  const last = keys.pop();
  if (last === undefined) throw new Error('name a path inside the state');
  let here = state as Record<string, any>;
  let pointer = '';
  for (const key of keys) {
    pointer += `/${escapeSegment(key)}`;
    here = here[key];
    if (typeof here !== 'object' || here === null) throw new Error(`the state has no value at ${pointer}`);
  }
  if (!['add', 'replace', 'remove'].includes(patch.op)) throw new Error('use add, replace or remove');
  if (Array.isArray(here)) applyToList(here, last, patch);
  else if (patch.op === 'add') here[last] = patch.value;
  else if (!Object.hasOwn(here, last)) throw new Error('the state has no value at that path');
  else if (patch.op === 'replace') here[last] = patch.value;
  else delete here[last];
}

function applyToList(list: unknown[], key: string, patch: PatchOperation): void {
  if (patch.op === 'add' && key === '-') list.push(patch.value);
  else if (patch.op === 'add') list.splice(indexOf(key, list.length), 0, patch.value);
  else if (patch.op === 'replace') list[indexOf(key, list.length - 1)] = patch.value;
  else list.splice(indexOf(key, list.length - 1), 1);
}

function indexOf(key: string, most: number): number {
  const index = Number(key);
  if (!(Number.isSafeInteger(index) && index >= 0 && index <= most && String(index) === key))
    throw new Error('the list has no such index');
  return index;
}
