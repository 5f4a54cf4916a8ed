import type { Json } from 'assize/internal/base';
import { canonicalize, WORLD_LIMITS } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';
import type { LifeCycleProposal } from 'assize/testing';
import { Choices } from './random.ts';
import { poolOf, textNamed, valuesOf } from './values.ts';

/**
 * Draws valid proposals for a state, up to `tries` for each action and role. The same proposals for
 * the same state.
 */
export function proposalsOf({ actions, roles }: Domain, tries: number): (state: Json) => LifeCycleProposal[] {
  const drawArgs = new Map(Object.entries(actions).map(([name, { args }]) => [name, valuesOf(args)] as const));
  return (state) => {
    const choices = new Choices(seedOf(canonicalize(state, WORLD_LIMITS)));
    const pool = poolOf(state);
    const made = new Map<string, LifeCycleProposal>();
    for (const [action, { process, args: schema }] of Object.entries(actions))
      for (const [name, { params = [], processes }] of Object.entries(roles)) {
        if (!processes.includes(process)) continue;
        for (let n = 0; n < tries; n++) {
          const bound = params.map((param) => [param, textNamed(param, { choices, pool })]);
          const args = drawArgs.get(action)?.(choices, pool) ?? null;
          if (!schema.safeParse(args).success) continue;
          const proposal = { action, role: { name, params: Object.fromEntries(bound) }, args };
          made.set(JSON.stringify(proposal), proposal);
        }
      }
    return [...made.values()];
  };
}

function seedOf(text: string): number {
  let seed = 0;
  for (let i = 0; i < text.length; i++) seed = (Math.imul(seed, 31) + text.charCodeAt(i)) | 0;
  return seed;
}
