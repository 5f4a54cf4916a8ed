import type { CallWorld } from '#calls';
import { leave, sessionIdOf } from '#calls';
import * as answers from './answers.ts';
import { sessionEvent } from './events.ts';

/** Records the end of a session, or of a subagent. An event that cannot be read ends none. */
export async function sessionEnded(world: CallWorld, given: unknown): Promise<answers.HookAnswer> {
  const event = sessionEvent.safeParse(given);
  if (event.success) await leave(world, sessionIdOf(event.data.session_id, event.data.agent_id));
  return answers.NOTHING;
}
