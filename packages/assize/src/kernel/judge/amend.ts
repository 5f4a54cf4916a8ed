import { deepFreeze, isInstance, type Json } from '#base';
import { canonicalize, WORLD_LIMITS } from '#canon';
import type { Change } from '../domain/change.ts';
import type { Domain } from '../domain/domain.ts';
import { refusePromise } from '../domain/host-code.ts';
import { KernelError, messageOf } from '../errors.ts';
import { changesOf } from '../state/changes.ts';
import type { Draft } from '../state/draft.ts';
import { closureOf, markApprovals, type Rejected } from './adjudicate.ts';
import {
  type CounselorApproval,
  type CounselorCommit,
  counseled,
  type PendingProposal,
  type Produced,
  seenOf,
} from './approve.ts';
import { callsOf, type OutdatedCalls } from './calls.ts';
import { faultOfChanges, refusalOf, runApply } from './candidate.ts';
import { approvalsFor, channelOf, checkAnother, counselorKind } from './channel.ts';
import { compile, decidedWithCalls } from './compile.ts';
import type { Authority, Compiled, Intent, Refusal } from './compiled.ts';
import { detectionVector, escalatingCallRules } from './full-check.ts';
import type { InputCall, Inputs } from './inputs.ts';
import type { World } from './world.ts';

/** Other arguments, or another role, for the action of a pending proposal. */
export interface Amendment {
  readonly intent: Intent;
  /** Whether the arguments were parsed before. */
  readonly parsed?: boolean;
  /** The calls that were planned for the amended proposal. */
  readonly calls: readonly InputCall[];
}

/** An amendment by a counselor, before it is run. */
export type AmendingCounselor = Omit<CounselorApproval, 'replacement'>;

/**
 * The counselor kind of a principal that may amend a pending proposal.
 *
 * @throws KernelError `unauthorised_counselor`, `already_approved`, `invalid_amendment`
 */
export function amendingKind(
  { domain }: World,
  waiting: PendingProposal,
  { principal, at }: Pick<AmendingCounselor, 'principal' | 'at'>,
): string {
  const { intent, inputs, approvals, channel, requesters } = waiting;
  const seen = seenOf(waiting);
  const as = counselorKind(domain, channel, principal, requesters, seen, { ...waiting, at });
  checkAnother({ principal }, waiting.approvedBy);
  if (!Object.hasOwn(domain.actions, intent.action))
    throw invalidAmendment(
      `${intent.action} is a built-in action, and cannot be amended. Approve or reject it.`,
    );
  if (approvals > 1) throw severalApprovals(approvals);
  if ((inputs.calls ?? []).some(({ isDeclared }) => isDeclared !== true)) throw calledByBody();
  return as;
}

/**
 * Commits a pending proposal with other arguments, as if it had been proposed with them and
 * approved. Types, scopes, cost, statements, policy, calls and rules are judged on the current
 * state. A rule may escalate if the counselor is of its kind, and one approval is enough. Other
 * violations need an override. The calls of the first proposal are dropped. On an error the state
 * is unchanged. Returns `outdated` if the calls were planned for another state.
 *
 * @throws KernelError `unauthorised_counselor`, `already_approved`, `invalid_amendment`,
 * `override_needed`
 */
export function amendPending(
  world: World,
  waiting: PendingProposal,
  counselor: AmendingCounselor,
  { intent, calls, parsed = false }: Amendment,
  authority: Authority,
): CounselorCommit | OutdatedCalls {
  const as = amendingKind(world, waiting, counselor);
  const compiled = accepted(compile(world.domain, intent, authority, { parsed, calls }));
  if (textOf(compiled) === textOf(waiting.intent))
    throw invalidAmendment(
      'The arguments and the role are those of the proposal. Approve it without an amendment.',
    );
  if (counselor.isRecorded !== true) checkWidth(compiled, waiting.intent.args);
  const amended = { ...waiting, intent, inputs: { ...waiting.inputs, calls } };
  try {
    return counseled(world, as, counselor, invalidAmendment, (draft) =>
      amend(world, amended, compiled, draft, authority, counselor),
    );
  } catch (error) {
    if (isInstance(error, OutdatedAmendment)) return error.calls;
    throw error;
  }
}

/** A recorded amendment stays, also one that a later version of the domain would refuse. */
function checkWidth({ name, action, args }: Compiled, proposed: Json): void {
  let wider: string | undefined;
  try {
    wider = action.widens?.(deepFreeze(proposed), deepFreeze(args));
    refusePromise(wider, 'widens');
  } catch (error) {
    throw invalidAmendment(
      `widens of ${name} failed: ${messageOf(error)}. Approve or reject the proposal.`,
      error,
    );
  }
  if (wider !== undefined)
    throw invalidAmendment(
      `The amendment allows more than was proposed: ${wider}. Reject it, and ask again for that.`,
    );
}

function textOf({ args, role }: Pick<Intent, 'args' | 'role'>): string {
  return canonicalize({ args, role } as unknown as Json, WORLD_LIMITS);
}

/** Writes the amended state with its approval mark into the draft. */
function amend(
  world: World,
  waiting: PendingProposal,
  uncalled: Compiled,
  draft: Draft,
  authority: Authority,
  { principal, at }: AmendingCounselor,
): Produced {
  const { domain } = world;
  const changes = applied(world, uncalled, waiting.inputs, draft);
  const calls = callsOf(domain, uncalled, draft.state, waiting.inputs);
  if ('outdated' in calls) throw new OutdatedAmendment(calls);
  const { all } = accepted(calls);
  const compiled = accepted(decidedWithCalls(uncalled, all, authority));
  const { finding } = world.checks.checkChanges(draft.state, changes, all);
  const escalated = finding?.result.result === 'escalate' ? finding : undefined;
  const callRules = escalatingCallRules(domain, draft.state, all);
  // An override also covers later rules, so the approvers of all broken rules count.
  const approvals = Math.max(
    approvalsFor(compiled, escalated, callRules),
    ...brokenApprovals(domain, draft, all),
  );
  if (approvals > 1) throw severalApprovals(approvals);
  const channel = channelOf(compiled, escalated, callRules);
  const { requesters } = waiting;
  counselorKind(domain, channel, principal, requesters, seenOf(waiting), { ...waiting, at });
  markApprovals(draft, compiled, escalated, [{ counselor: principal, at }]);
  return {
    waiting: { ...waiting, channel: `${waiting.channel}+${channel}` },
    compiled,
    open: closureOf(compiled, escalated).patterns,
    advice: 'Amend it otherwise, or reject it.',
  };
}

/** The numbers of approvers of all rules that the amended state does not pass. */
function brokenApprovals(domain: Domain, draft: Draft, calls: Inputs['calls']): number[] {
  return detectionVector(domain, draft.state, calls).flatMap(({ result }, index) =>
    result === 'pass' ? [] : [domain.rules[index]?.spec.approvals ?? 1],
  );
}

/** Runs `apply` with the amended arguments, and checks footprint and types of the changes. */
function applied(
  world: World,
  compiled: Compiled,
  inputs: Inputs,
  draft: Draft,
): readonly Change[] {
  try {
    runApply(draft, compiled, inputs);
  } catch (error) {
    throw refusedAmendment(refusalOf(error, compiled.name), error);
  }
  const changes = changesOf(draft);
  const refusal = faultOfChanges(world, compiled, draft, changes);
  if (refusal !== undefined) throw refusedAmendment(refusal);
  return changes;
}

function accepted<Result extends object>(result: Result | Refusal): Exclude<Result, Refusal> {
  if ('reason' in result) throw refusedAmendment(result as Refusal);
  return result as Exclude<Result, Refusal>;
}

/** The error for an amended proposal that would not be accepted as a new one. */
export function refusedAmendment(
  { reason, detail }: Pick<Rejected, 'reason' | 'detail'>,
  cause?: unknown,
): KernelError {
  return invalidAmendment(
    `The amended proposal is refused (${reason}): ${detail.replace(/\.$/, '')}. Amend it otherwise, or reject it.`,
    cause,
  );
}

function severalApprovals(approvals: number): KernelError {
  return invalidAmendment(
    `A proposal that needs ${approvals} approvals cannot be amended. Reject it, and have it proposed with other arguments.`,
  );
}

/** The error for a proposal with calls of a transaction body. */
export function calledByBody(): KernelError {
  return invalidAmendment(
    'The transaction body of the proposal made its calls for the first arguments. Reject it, and have it proposed with other arguments.',
  );
}

/** The error for an amendment that cannot be committed. */
export function invalidAmendment(message: string, cause?: unknown): KernelError {
  return new KernelError('invalid_amendment', message, { cause });
}

/** Thrown to undo the draft. */
class OutdatedAmendment extends KernelError {
  readonly calls: OutdatedCalls;

  constructor(calls: OutdatedCalls) {
    super('changed_since', calls.detail);
    this.calls = calls;
  }
}
