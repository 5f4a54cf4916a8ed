import { createHash } from 'node:crypto';

/**
 * The member that writes a trajectory: the one with the highest hash over its id and the name of
 * the trajectory (rendezvous hashing, Thaler and Ravishankar 1998). All servers that see the same
 * members find the same owner. A member that leaves moves its own trajectories only.
 */
export function ownerOf<M extends { readonly id: string }>(trajectoryId: string, members: Iterable<M>): M | undefined {
  let owner: M | undefined;
  let highest = '';
  for (const member of members) {
    const score = createHash('sha256').update(`${member.id}\n${trajectoryId}`).digest('hex');
    if (score > highest) [owner, highest] = [member, score];
  }
  return owner;
}
