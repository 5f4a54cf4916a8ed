import type { LifeCycleProposal } from '@assize/testing';
import type { Json } from 'assize/internal/base';
import { canonicalize, WORLD_LIMITS } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';
import { Choices, ProposalDrawer } from '../architectures/draw/index.ts';

/**
 * Draws valid proposals for a state, up to `tries` for each action and role. The same proposals for
 * the same state.
 */
export function proposalsOf(domain: Domain, tries: number): (state: Json) => LifeCycleProposal[] {
  const drawer = new ProposalDrawer(domain);
  return (state) => {
    const choices = new Choices(seedOf(canonicalize(state, WORLD_LIMITS)));
    const drawn = [...drawer.each(state, choices, tries)];
    const fitting = drawn.filter(
      ({ action, args }) => domain.actions[action]?.args.safeParse(args).success,
    );
    return [...new Map(fitting.map((proposal) => [JSON.stringify(proposal), proposal])).values()];
  };
}

function seedOf(text: string): number {
  let seed = 0;
  for (let i = 0; i < text.length; i++) seed = (Math.imul(seed, 31) + text.charCodeAt(i)) | 0;
  return seed;
}
