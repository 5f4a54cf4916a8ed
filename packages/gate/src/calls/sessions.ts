import { instantToMillis } from 'assize/internal/canon';
import { type OpenCall, openCalls, runOf } from '#gateway';
import { projectOf } from '#reach';
import type { CallWorld } from './call-world.ts';

/** A session of an agent program. */
export interface AgentSession {
  readonly id: string;
  /** The session that started it. */
  readonly parent?: string;
  /** How it began, or what it is for. */
  readonly about?: string;
  /** The folder of its event. A new session belongs to the project that this folder is in. */
  readonly cwd?: string;
}

/** Records a session at its first event, with the session that started it. */
export async function attend(
  world: CallWorld,
  { id, parent, about, cwd }: AgentSession,
): Promise<void> {
  const from = cwd === undefined ? {} : { cwd };
  if (parent !== undefined) await attend(world, { id: parent, ...from });
  const isOpen = world.read(
    ({ sessions }) => Object.hasOwn(sessions, id) && sessions[id]?.endedAt === undefined,
  );
  if (isOpen) return;
  const above = parent && world.read(({ sessions }) => sessions[parent]?.project);
  const project = above ?? (cwd === undefined ? undefined : await projectOf(cwd));
  await world.propose('session', {
    session: id,
    event: 'start',
    ...(parent !== undefined && { parent }),
    ...(about !== undefined && { about: about.slice(0, 200) }),
    ...(project !== undefined && { project }),
  });
}

/** Records that a session failed: from now on its calls only take back what it has done. */
export async function fail(world: CallWorld, id: string): Promise<void> {
  const isKnown = world.read(({ sessions }) => Object.hasOwn(sessions, id));
  if (isKnown && !hasFailed(world, id))
    await world.propose('session', { session: id, event: 'fail' });
}

/** Whether a session, or the one that started it, is being taken back. */
export function hasFailed(world: CallWorld, id: string): boolean {
  return world.read((state) => state.sessions[runOf(state, id)]?.failed === true);
}

/** Records the end of a session. */
export async function leave(world: CallWorld, id: string): Promise<void> {
  const isOpen = world.read(
    ({ sessions }) => Object.hasOwn(sessions, id) && sessions[id]?.endedAt === undefined,
  );
  if (isOpen) await world.propose('session', { session: id, event: 'end' });
}

/**
 * The agent's calls whose outcome will not be reported any more: they started, and their session
 * has ended, goes on with another turn (`next`), or was silent for too long.
 */
export function inDoubt(world: CallWorld, now: string, next: string): readonly OpenCall[] {
  return world.read((state) =>
    openCalls(state, now).filter(({ agent, session, at, inDoubt }) => {
      if (agent !== world.agent) return false;
      const endedAt = session === undefined ? undefined : state.sessions[session]?.endedAt;
      return (
        inDoubt ||
        session === next ||
        (endedAt !== undefined && instantToMillis(endedAt) >= instantToMillis(at))
      );
    }),
  );
}
