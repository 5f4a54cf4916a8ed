import type { AgentSession } from '#calls';
import { sessionIdOf } from '#calls';
import type { SessionEvent } from './events.ts';

/** The session of an event. A subagent has one of its own. */
export function sessionOf({ session_id, agent_id, agent_type }: SessionEvent, program: string): AgentSession {
  if (agent_id === undefined) return { id: sessionIdOf(session_id), about: program };
  return {
    id: sessionIdOf(session_id, agent_id),
    parent: sessionIdOf(session_id),
    ...(agent_type !== undefined && { about: agent_type }),
  };
}
