import { type Domain, defineDomain, pass, reject } from 'assize/internal/kernel';
import fc from 'fast-check';
import { z } from 'zod';
import type { ComparedAgent } from '../agents.ts';

// Small domains and agents made of data. A naive interpreter can run them as well.

export const KEYS = ['a', 'b', 'c'] as const;
export type Counts = { readonly [key: string]: number };

/** A rule: the sum of some numbers has a maximum. */
export interface CapSpec {
  readonly keys: readonly string[];
  readonly max: number;
}

/** An agent adds a number to its own key. The sum that it sees chooses the number; 0: nothing. */
export interface SmallAgent {
  readonly key: string;
  /** Whether it sees all numbers, or its own alone. */
  readonly seesAll: boolean;
  readonly moves: readonly number[];
}

export const capSpecs: fc.Arbitrary<CapSpec[]> = fc.array(
  fc.record({
    keys: fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 3 }),
    max: fc.integer({ min: 1, max: 6 }),
  }),
  { minLength: 1, maxLength: 3 },
);

export const smallAgents = (max: number): fc.Arbitrary<SmallAgent[]> =>
  fc.array(
    fc.record({
      key: fc.constantFrom(...KEYS),
      seesAll: fc.boolean(),
      moves: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: max },
  );

export const START: Counts = { a: 0, b: 0, c: 0 };

export function ruleId(index: number): string {
  return `CAP_${index}`;
}

/** The domain with these rules. */
export function smallDomain(caps: readonly CapSpec[]): Domain {
  const state = z.object({ n: z.record(z.string(), z.number().int()) });
  const add = {
    args: z.object({ by: z.number().int() }),
    apply: ({ n }: { n: Record<string, number> }, { by }: { by: number }, context: any) => {
      n[context.role.key] = (n[context.role.key] ?? 0) + by;
    },
  };
  return defineDomain<any, any>({
    name: 'small',
    version: '1',
    state,
    initial: { n: START },
    processes: { own: { writes: ['/n/{key}'] }, all: { reads: ['/n'], writes: ['/n/{key}'] } },
    roles: {
      narrow: { params: ['key'], processes: ['own'] },
      wide: { params: ['key'], processes: ['all'] },
    },
    actions: { add: { process: 'own', ...add }, add_wide: { process: 'all', ...add } },
    invariants: ({ invariant }: any) =>
      caps.map(({ keys, max }, i) =>
        invariant(
          ruleId(i),
          keys.map((key) => `/n/${key}`),
          ({ n }: any) => {
            const sum = keys.reduce((total, key) => total + n[key], 0);
            return sum <= max ? pass : reject(`${sum} of ${max}`);
          },
        ),
      ),
  }) as Domain;
}

/** The number that an agent adds after it has read the numbers. */
export function moveOf({ key, seesAll, moves }: SmallAgent, read: Counts): number {
  const seen = seesAll ? Object.values(read).reduce((total, n) => total + n, 0) : (read[key] ?? 0);
  return moves[Math.abs(seen) % moves.length] ?? 0;
}

export function comparedAgent(agent: SmallAgent, index: number): ComparedAgent {
  const { key, seesAll } = agent;
  return {
    name: `agent ${index}`,
    role: { name: seesAll ? 'wide' : 'narrow', params: { key } },
    decide: ({ n }) => {
      const by = moveOf(agent, n);
      return by === 0 ? undefined : { action: seesAll ? 'add_wide' : 'add', args: { by } };
    },
  };
}
