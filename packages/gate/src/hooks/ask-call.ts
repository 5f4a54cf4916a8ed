import {
  type AgentSession,
  type AskedCall,
  attend,
  type CallContent,
  type CallWorld,
  callIdOf,
  type Decision,
  decideCall,
  digestOf,
  sessionIdOf,
} from '#calls';
import { openRows } from '#gateway';
import type { AskingTool } from './events.ts';

/** Decides about the call of an event, in its session and with where it was asked for. */
export async function askCall(
  world: CallWorld,
  event: AskingTool,
  {
    session,
    content,
    waitMs,
  }: { readonly session: AgentSession; readonly content: CallContent; readonly waitMs: number },
): Promise<Decision> {
  await attend(world, session);
  const { session_id, agent_id, tool_use_id, cwd, permission_mode } = event;
  const place = { cwd, ...(permission_mode !== undefined && { permission_mode }) };
  const call: AskedCall = {
    id: callIdOf(session_id, tool_use_id),
    session: sessionIdOf(session_id, agent_id),
    ...content,
  };
  return decideCall(world, call, { waitMs, observations: [{ name: 'place', value: place }] });
}

/** Whether exactly this call of a session was let through, and has no outcome yet. */
export function isLetThrough(world: CallWorld, session: string, content: CallContent): boolean {
  const key = `${content.server}/${content.tool}`;
  const digest = digestOf(content);
  return world.read((state) =>
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
