import {
  type AgentSession,
  type AskedCall,
  attend,
  type CallContent,
  callIdOf,
  type Decision,
  decideCall,
  digestOf,
  sessionIdOf,
} from '@assize/gate/internal/calls';
import { openRows } from '@assize/gate/internal/gateway';
import type { AskingTool } from './events.ts';
import type { GatewayDesk } from './gateway-desk.ts';

/** Decides about the call of an event, in its session and with where it was asked for. */
export async function askCall(
  desk: GatewayDesk,
  event: AskingTool,
  {
    session,
    content,
    waitMs,
  }: { readonly session: AgentSession; readonly content: CallContent; readonly waitMs: number },
): Promise<Decision> {
  await attend(desk, session);
  const { session_id, agent_id, tool_use_id, cwd, permission_mode } = event;
  const place = { cwd, ...(permission_mode !== undefined && { permission_mode }) };
  const call: AskedCall = {
    id: callIdOf(session_id, tool_use_id),
    session: sessionIdOf(session_id, agent_id),
    ...content,
  };
  return decideCall(desk, call, { waitMs, observations: [{ name: 'place', value: place }] });
}

/** Whether exactly this call of a session was let through, and has no outcome yet. */
export function isLetThrough(desk: GatewayDesk, session: string, content: CallContent): boolean {
  const key = `${content.server}/${content.tool}`;
  const digest = digestOf(content);
  return desk.read((state) =>
    openRows(state).some(
      ([, row]) =>
        row.session === session &&
        row.tool === key &&
        row.digest === digest &&
        row.begunAt !== undefined &&
        row.outcome === undefined,
    ),
  );
}
