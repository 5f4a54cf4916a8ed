import { createHash } from 'node:crypto';

/**
 * The member that a name belongs to: the one with the highest hash over its id and the name
 * (rendezvous hashing, Thaler and Ravishankar 1998). All callers that see the same members find the
 * same owner. A member that leaves moves its own names only.
 */
export function ownerOf<M extends { readonly id: string }>(
  name: string,
  members: Iterable<M>,
): M | undefined {
  let owner: M | undefined;
  let highest = '';
  for (const member of members) {
    const score = createHash('sha256').update(`${member.id}\n${name}`).digest('hex');
    if (score > highest) [owner, highest] = [member, score];
  }
  return owner;
}
