import type { Result } from './read-token.ts';

/** The agent programs whose hooks are commands, by their names in addresses. */
export type Agent = 'codex' | 'claude-code';

/**
 * The text that an agent program reads for an answer of the server. An answer of another form is a
 * fault: both programs take it for no objection, and would let the call through. Codex does so with
 * an unknown member too, so it gets only known ones. Empty: nothing is said.
 */
export function readAnswer(agent: Agent, event: string, answer: unknown): Result<string> {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return UNKNOWN;
  const { hookSpecificOutput, systemMessage, decision, reason } = answer as Members;
  const special = membersOf(hookSpecificOutput);
  const isAbout = special['hookEventName'] === event;
  switch (event) {
    case 'PreToolUse':
    case 'PreSkillShellCommand':
      return isAbout ? toolAnswer(agent, special) : UNKNOWN;
    case 'PermissionRequest':
      return Object.keys(answer).length === 0 || isAbout ? requestAnswer(special) : UNKNOWN;
    case 'ConfigChange':
      return decision === 'block' && isText(reason) ? said({ decision, reason }) : UNKNOWN;
    case 'Elicitation':
      return Object.keys(answer).length === 0 || isAbout ? said(answer) : UNKNOWN;
    default:
      if (agent === 'codex')
        return said(typeof systemMessage === 'string' ? { systemMessage } : {});
      return said(answer);
  }
}

const UNKNOWN = {
  fault: 'Assize did not send this answer to the event. Check the address of the server.',
};

function toolAnswer(
  agent: Agent,
  { hookEventName, permissionDecision, permissionDecisionReason }: Members,
): Result<string> {
  if (agent === 'codex' && permissionDecision === 'allow') return said({});
  const known = agent === 'codex' ? ['deny'] : ['allow', 'deny', 'ask', 'defer'];
  if (!known.includes(permissionDecision as string) || !isText(permissionDecisionReason))
    return UNKNOWN;
  const hookSpecificOutput = { hookEventName, permissionDecision, permissionDecisionReason };
  return said({ hookSpecificOutput });
}

/** A refusal, or an empty document: the question is left to the person at the terminal. */
function requestAnswer({ hookEventName, decision }: Members): Result<string> {
  if (hookEventName === undefined) return said({});
  const { behavior, message } = membersOf(decision);
  if (behavior !== 'deny' || !isText(message)) return UNKNOWN;
  return said({ hookSpecificOutput: { hookEventName, decision: { behavior, message } } });
}

type Members = { readonly [name: string]: unknown };

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function said(document: object): Result<string> {
  return { value: Object.keys(document).length === 0 ? '' : JSON.stringify(document) };
}
