import { type AgentSession, attend, type CallWorld, inDoubt, leave, sessionIdOf } from '#calls';
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

/** The start of a session, or its next prompt: tells the person of calls in doubt that count. */
export async function sessionBegun(
  world: CallWorld,
  given: unknown,
  { program, inboxUrl }: { readonly program: string; readonly inboxUrl: string },
  counts: (call: OpenCall) => boolean = () => true,
): Promise<answers.HookAnswer> {
  const event = sessionEvent.safeParse(given);
  if (!event.success) return answers.NOTHING;
  const session = sessionOf(event.data, program);
  await attend(world, session);
  const calls = inDoubt(world, world.now(), session.id).filter(counts);
  return calls.length === 0 ? answers.NOTHING : answers.told(doubtText(world, calls, inboxUrl));
}

const SHOWN = 5;

function doubtText(world: CallWorld, calls: readonly OpenCall[], inboxUrl: string): string {
  const listed = calls
    .slice(0, SHOWN)
    .map(({ tool, at, id }) => `${tool} of ${at.slice(0, 16)}Z (${id})`);
  const more = calls.length > SHOWN ? ` and ${calls.length - SHOWN} more` : '';
  return `Assize: ${calls.length === 1 ? '1 call has' : `${calls.length} calls have`} no known outcome: ${listed.join(', ')}${more}. See ${inboxUrl.replace(/\/inbox$/, '/timeline')}/${world.trajectory.id}. A call can be settled when its agent has been silent for ten minutes.`;
}
