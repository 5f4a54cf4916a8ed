import type { HookAnswer } from '../answers.ts';

/** Declines a question of an MCP server to the person. */
export function declined(reason: string): HookAnswer {
  return { decision: 'block', reason, hookSpecificOutput: { hookEventName: 'Elicitation', action: 'decline' } };
}

/** Keeps a changed settings file from taking effect in the session. */
export function blocked(reason: string): HookAnswer {
  return { decision: 'block', reason };
}
