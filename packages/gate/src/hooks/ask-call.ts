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
  withReaches,
} from '#calls';
import { isSandboxInForce, openRows } from '#gateway';
import { projectOf } from '#reach';
import type { AskingTool } from './shared-events.ts';

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
    ...(await inProject(world, session, content)),
  };
  return decideCall(world, call, { waitMs, observations: [{ name: 'place', value: place }] });
}

/** Whether the sandbox of a program, if it has one, follows the rules in force. */
export function hasSandbox(world: CallWorld, digest: string | undefined): boolean {
  return digest !== undefined && world.read((state) => isSandboxInForce(state, digest));
}

/** The call with the folder of the project that its session began in. */
async function inProject(
  world: CallWorld,
  { id, cwd }: AgentSession,
  content: CallContent,
): Promise<CallContent> {
  const begun = world.read(({ sessions }) => sessions[id]?.project);
  const project = begun ?? (cwd === undefined ? undefined : await projectOf(cwd));
  return project === undefined ? content : { ...content, project };
}

/** Whether exactly this call of a session was let through, and has no outcome yet. */
export async function isLetThrough(
  world: CallWorld,
  session: AgentSession,
  content: CallContent,
): Promise<boolean> {
  const key = `${content.server}/${content.tool}`;
  const digest = digestOf(await withReaches(world, await inProject(world, session, content)));
  return world.read((state) =>
    openRows(state).some(
      ([, row]) =>
        row.session === session.id &&
        row.tool === key &&
        row.digest === digest &&
        row.begunAt !== undefined &&
        row.outcome === undefined,
    ),
  );
}
