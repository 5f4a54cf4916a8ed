import type { Result } from './read-token.ts';

/**
 * The text that Codex reads for an answer of the server. Codex takes a document with an unknown
 * member for no answer at all, and then lets the call through: only known members are passed on.
 * An answer of another form is a fault. Empty: nothing is said.
 */
export function readCodexAnswer(event: string, answer: unknown): Result<string> {
  if (event === 'PreToolUse') return toolAnswer(membersOf(membersOf(answer)['hookSpecificOutput']));
  if (event === 'PermissionRequest') return requestAnswer(answer);
  const { systemMessage } = membersOf(answer);
  return { value: typeof systemMessage === 'string' ? JSON.stringify({ systemMessage }) : '' };
}

const UNKNOWN = {
  fault: 'The answer is none of Assize for this event. Check the address of the server.',
};

function toolAnswer({
  hookEventName,
  permissionDecision,
  permissionDecisionReason,
}: Members): Result<string> {
  if (hookEventName !== 'PreToolUse') return UNKNOWN;
  if (permissionDecision === 'allow') return { value: '' };
  if (permissionDecision !== 'deny' || !isText(permissionDecisionReason)) return UNKNOWN;
  return said({ hookEventName, permissionDecision, permissionDecisionReason });
}

/** A refusal, or an empty document: the question is left to the person at the terminal. */
function requestAnswer(answer: unknown): Result<string> {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return UNKNOWN;
  if (Object.keys(answer).length === 0) return { value: '' };
  const { hookEventName, decision } = membersOf(membersOf(answer)['hookSpecificOutput']);
  const { behavior, message } = membersOf(decision);
  if (hookEventName !== 'PermissionRequest' || behavior !== 'deny' || !isText(message))
    return UNKNOWN;
  return said({ hookEventName, decision: { behavior, message } });
}

type Members = { readonly [name: string]: unknown };

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function said(hookSpecificOutput: Members): Result<string> {
  return { value: JSON.stringify({ hookSpecificOutput }) };
}
