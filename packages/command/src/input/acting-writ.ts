import type { WritChain } from 'assize/host';
import { defaultWrit, GrantIssuer, type RootKey, withdrawGrants } from 'assize/internal/config';
import type { Tool } from 'assize/internal/effects';
import { systemClock } from 'assize/internal/oracle';
import type { Assize, Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { CliError } from '../errors.ts';
import { project } from '../store/project.ts';

/** The agent of `--as`, and its work. */
export interface Acting {
  readonly agent: string;
  readonly action: string;
  readonly tools: readonly Tool[];
}

/** The place of the work. */
export interface ActingIn {
  readonly store: Store;
  readonly assize: Assize;
  readonly trajectory: Trajectory;
}

/**
 * The writ of `--as`, signed with the root key for this command. With principals in the config, it
 * is a part of a grant of that agent, with the same budget as at a server. Without, it grants every
 * action of the domain.
 *
 * @throws CliError `not_found` for an agent that the config does not have, or that has no grant in
 * the trajectory
 */
export async function actingWrit(
  root: RootKey,
  { store, assize, trajectory }: ActingIn,
  { agent, action, tools }: Acting,
): Promise<WritChain> {
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
  const issuer = new GrantIssuer(root, store, { principals });
  await withdrawGrants(issuer, {
    ...{ store, assize, now: systemClock.now(), trajectoryId: trajectory.id },
    onFailure: (error) => {
      throw error;
    },
  });
  const writ = await issuer.lasting(known, trajectory.id, action);
  if (writ !== undefined) return writ;
  throw new CliError(
    'not_found',
    `The config grants ${agent} nothing in ${trajectory.id}. Add a grant for it.`,
  );
}
