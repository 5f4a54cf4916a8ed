import { defaultWrit, grantedWrit, type RootKey } from '#config';
import type { Tool } from '#effects';
import type { Trajectory, WritChain } from '#runtime';
import { CliError } from '../errors.ts';
import { project } from '../store/project.ts';

/** The agent of `--as`, and its work. */
export interface Acting {
  readonly agent: string;
  readonly action: string;
  readonly tools: readonly Tool[];
}

/**
 * The writ of `--as`, signed with the root key for this command. With principals in the config, it
 * has a grant of that agent; without, it grants every action of the domain.
 *
 * @throws CliError `not_found` for an agent that the config does not have, or that has no grant in
 * the trajectory
 */
export function actingWrit(root: RootKey, trajectory: Trajectory, { agent, action, tools }: Acting): WritChain {
  const principals = project()?.principals ?? new Map();
  if (principals.size === 0) {
    const { id, domain } = trajectory;
    return { writ: defaultWrit(root, { agent, trajectory: id, domain, tools }), chain: [] };
  }
  const known = principals.get(agent);
  if (known === undefined || !known.kinds.includes('agent')) {
    const agents = [...principals.values()].filter(({ kinds }) => kinds.includes('agent'));
    const names = agents.map(({ name }) => name).join(', ') || 'none';
    throw new CliError('not_found', `The config has no agent ${agent}. Its agents: ${names}.`);
  }
  const writ = grantedWrit(root, known, { trajectory: trajectory.id, action });
  if (writ !== undefined) return { writ, chain: [] };
  throw new CliError('not_found', `The config grants ${agent} nothing in ${trajectory.id}. Add a grant for it.`);
}
