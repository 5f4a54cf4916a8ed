import type { CallWorld, Decision } from '#calls';

/**
 * The answers that Claude Code and Codex both understand. An answer to a question always names its
 * event: a document without one counts as no opinion there, and the call would run.
 */

export type HookAnswer = { readonly [name: string]: unknown };

/** The answer to an event on which Assize has nothing to say. */
export const NOTHING: HookAnswer = {};

export type Permission = 'allow' | 'deny' | 'ask' | 'defer';

const REASON_MAX = 4_000;

/** The answer to the question whether a tool may be called. */
export function permission(event: string, decision: Permission, reason: string): HookAnswer {
  return {
    hookSpecificOutput: {
      hookEventName: event,
      permissionDecision: decision,
      permissionDecisionReason: reason.slice(0, REASON_MAX).toWellFormed(),
    },
  };
}

/** Denies a permission that the program is about to ask a person for. */
export function refusedRequest(message: string): HookAnswer {
  const decision = { behavior: 'deny', message: message.slice(0, REASON_MAX).toWellFormed() };
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
}

/** A text for the person at the terminal. */
export function told(systemMessage: string): HookAnswer {
  return { systemMessage };
}

/** Why a call is let through. Rules that observe say what they would have answered. */
export function allowedReason(
  world: CallWorld,
  { call }: Extract<Decision, { kind: 'allowed' }>,
): string {
  const would = world.read(({ calls }) => calls[call]?.would);
  if (would === undefined) return 'Assize: the rules let the call through.';
  const says = would.ruling === 'ask' ? 'a person has to approve it' : 'it is refused';
  return `Assize: the rules observe, and let the call through. Enforced, ${says} ([${would.rule}] ${would.why}).`;
}

/** The reason of a refusal, as the model reads it. */
export function reasonOf(
  decision: Exclude<Decision, { kind: 'allowed' }>,
  inboxUrl: string,
): string {
  if (decision.kind !== 'pending') return `Assize: ${decision.reason}`;
  const { approval, reason } = decision;
  return `Assize: a person has to approve this call (${reason}). It waits at ${inboxUrl}/${approval}. Make the same call again, with exactly the same input, when it is approved. Do not try to reach the same result in another way.`;
}
