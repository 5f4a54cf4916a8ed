import { leave, sessionIdOf } from '@assize/gate/internal/calls';
import * as answers from './answers.ts';
import { sessionEvent } from './events.ts';
import type { GatewayDesk } from './gateway-desk.ts';

/** Records the end of a session, or of a subagent. An event that cannot be read ends none. */
export async function sessionEnded(desk: GatewayDesk, given: unknown): Promise<answers.HookAnswer> {
  const event = sessionEvent.safeParse(given);
  if (event.success) await leave(desk, sessionIdOf(event.data.session_id, event.data.agent_id));
  return answers.NOTHING;
}
