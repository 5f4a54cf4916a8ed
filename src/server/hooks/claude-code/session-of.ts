import { sessionIdOf } from '../asked-call.ts';
import type { AgentSession } from '../sessions.ts';
import type { SessionEvent } from './events.ts';

/** The session of an event. A subagent has one of its own. */
export function sessionOf({ session_id, agent_id, agent_type }: SessionEvent): AgentSession {
  if (agent_id === undefined) return { id: sessionIdOf(session_id), about: 'Claude Code' };
  return {
    id: sessionIdOf(session_id, agent_id),
    parent: sessionIdOf(session_id),
    ...(agent_type !== undefined && { about: agent_type }),
  };
}

/** The result of a command in the text of a skill. */
export const UNTOLD: { readonly note: string } = { note: 'Claude Code reports no outcome of a command in a skill.' };
