import { type AgentSession, type CallWorld, leave, sessionIdOf } from '#calls';
import type { OpenCall } from '#gateway';
import * as answers from './answers.ts';
import { type SessionEvent, sessionEvent } from './shared-events.ts';

/** The session of an event. A subagent has one of its own. */
export function sessionOf(
  { session_id, agent_id, agent_type, cwd }: SessionEvent,
  program: string,
): AgentSession {
  if (agent_id === undefined) return { id: sessionIdOf(session_id), about: program, cwd };
  return {
    id: sessionIdOf(session_id, agent_id),
    cwd,
    parent: sessionIdOf(session_id),
    ...(agent_type !== undefined && { about: agent_type }),
  };
}

/** Records the end of a session, or of a subagent. An event that cannot be read ends none. */
export async function sessionEnded(world: CallWorld, given: unknown): Promise<answers.HookAnswer> {
  const event = sessionEvent.safeParse(given);
  if (event.success) await leave(world, sessionIdOf(event.data.session_id, event.data.agent_id));
  return answers.NOTHING;
}

const SHOWN = 5;

/** Tells a person of calls without a known outcome. Undefined if there are none. */
export function doubtText(
  world: CallWorld,
  calls: readonly OpenCall[],
  inboxUrl: string,
): string | undefined {
  if (calls.length === 0) return undefined;
  const listed = calls
    .slice(0, SHOWN)
    .map(({ tool, at, id }) => `${tool} of ${at.slice(0, 16)}Z (${id})`);
  const more = calls.length > SHOWN ? ` and ${calls.length - SHOWN} more` : '';
  return `Assize: ${calls.length === 1 ? '1 call has' : `${calls.length} calls have`} no known outcome: ${listed.join(', ')}${more}. See ${inboxUrl.replace(/\/inbox$/, '/timeline')}/${world.trajectory.id}. A call can be settled when its agent has been silent for ten minutes.`;
}
