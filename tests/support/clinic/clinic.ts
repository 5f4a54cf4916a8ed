import { z } from 'zod';
import { defineDomain } from '#kernel';

/** A domain with a memory: each cardinality, and each way to choose a winner. */
export const clinic = defineDomain({
  name: 'clinic',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ visits: z.number().int() }),
  initial: { visits: 0 },
  processes: { visiting: { writes: ['/visits'] } },
  roles: { nurse: { processes: ['visiting'] } },
  actions: {
    visit: {
      process: 'visiting',
      args: z.object({ patient: z.string(), weight: z.string() }),
      apply: (state) => {
        state.visits += 1;
        if (state.visits > 100) throw new Error('closed');
      },
      beliefs: ({ patient, weight }) => [
        {
          verb: 'assert' as const,
          space: 'ward',
          subject: patient,
          predicate: 'weight',
          object: weight,
        },
      ],
    },
  },
  invariants: [],
  counselors: { doctor: (principal) => principal.startsWith('dr ') },
  memory: {
    predicates: {
      allergy: { cardinality: 'multi-valued', strategy: 'lww' },
      drug: { cardinality: 'single-valued', strategy: 'lww' },
      weight: { cardinality: 'single-valued', strategy: 'evi' },
      diagnosis: { cardinality: 'single-valued', strategy: 'await', channel: 'doctor' },
      triage: { cardinality: 'single-valued', strategy: 'rule' },
    },
  },
});
