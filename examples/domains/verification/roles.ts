/**
 * Four jobs as in vulnerability disclosure, each for one finding (seed 000 §3.2.2: the same
 * diagram), and the registry that makes its record. The analyser sees neither ratings nor verdicts,
 * and the reporter sees only these.
 */
import type { Process, Role } from 'assize/internal/kernel';

export const processes = {
  opening: { writes: ['/findings/{finding}'] },
  submitting: {
    writes: [
      '/findings/{finding}/submissions',
      '/findings/{finding}/identity',
      '/findings/{finding}/events',
    ],
  },
  attaching: { writes: ['/findings/{finding}/evidence', '/findings/{finding}/events'] },
  reproducing: {
    reads: ['/findings/{finding}/evidence'],
    writes: ['/findings/{finding}/attempts', '/findings/{finding}/events'],
  },
  rating: {
    reads: ['/findings/{finding}/attempts'],
    writes: ['/findings/{finding}/ratings', '/findings/{finding}/events'],
  },
  assigning: { writes: ['/findings/{finding}/assignments', '/findings/{finding}/events'] },
  judging: {
    reads: ['/findings/{finding}/evidence', '/findings/{finding}/ratings'],
    writes: ['/findings/{finding}/verdicts', '/findings/{finding}/events'],
  },
  reporting: {
    reads: ['/findings/{finding}/verdicts'],
    writes: ['/findings/{finding}/reports', '/findings/{finding}/events'],
  },
} as const satisfies Record<string, Process>;

export type ProcessName = keyof typeof processes;

export const roles = {
  // Not an agent: creating a record requires access to all records.
  Registry: { params: ['finding'], processes: ['opening'], sees: ['/findings/{finding}'] },
  // The analyser submits, and never verifies.
  Analysis: {
    params: ['finding', 'analyser'],
    processes: ['submitting', 'attaching'],
    sees: [
      '/findings/{finding}/submissions',
      '/findings/{finding}/identity',
      '/findings/{finding}/evidence',
      '/findings/{finding}/events',
    ],
  },
  Reproduction: {
    params: ['finding'],
    processes: ['reproducing', 'rating'],
    sees: [
      '/findings/{finding}/evidence',
      '/findings/{finding}/attempts',
      '/findings/{finding}/ratings',
      '/findings/{finding}/events',
    ],
  },
  Verification: {
    params: ['finding'],
    processes: ['assigning', 'judging'],
    sees: [
      '/findings/{finding}/evidence',
      '/findings/{finding}/ratings',
      '/findings/{finding}/assignments',
      '/findings/{finding}/verdicts',
      '/findings/{finding}/events',
    ],
  },
  Reporting: {
    params: ['finding'],
    processes: ['reporting'],
    sees: [
      '/findings/{finding}/verdicts',
      '/findings/{finding}/reports',
      '/findings/{finding}/events',
    ],
  },
} as const satisfies Record<string, Role>;
