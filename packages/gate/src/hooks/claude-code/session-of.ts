import type { AgentSession } from '#calls';
import * as shared from '../sessions.ts';
import type { SessionEvent } from '../shared-events.ts';

/** The name of the program, as sessions have it. */
export const CLAUDE_CODE = 'Claude Code';

/** The session of an event of Claude Code. */
export function sessionOf(event: SessionEvent): AgentSession {
  return shared.sessionOf(event, CLAUDE_CODE);
}

/** The result of a command in the text of a skill. */
export const UNTOLD: { readonly note: string } = {
  note: 'Claude Code reports no outcome of a command in a skill.',
};
