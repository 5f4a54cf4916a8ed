/**
 * Four jobs, each for one account, the assessor's for one case of it: the assessor of a post sees
 * neither the strikes of its author nor other open cases, so these cannot influence the assessment.
 */
import type { Process, Role } from 'assize/internal/kernel';

export const processes = {
  opening: { writes: ['/accounts/{account}'] },
  receiving: { writes: ['/accounts/{account}/reports', '/accounts/{account}/events'] },
  triage: {
    writes: [
      '/accounts/{account}/reports',
      '/accounts/{account}/cases',
      '/accounts/{account}/events',
    ],
  },
  closing: {
    reads: ['/accounts/{account}/cases'],
    writes: ['/accounts/{account}/closures', '/accounts/{account}/events'],
  },
  assessing: {
    reads: ['/accounts/{account}/cases/{case}'],
    writes: ['/accounts/{account}/assessments/{case}', '/accounts/{account}/events'],
  },
  striking: {
    reads: ['/accounts/{account}/assessments/{case}'],
    writes: ['/accounts/{account}/strikes/{case}', '/accounts/{account}/events'],
  },
  deciding: {
    reads: ['/accounts/{account}/strikes'],
    writes: ['/accounts/{account}/actions', '/accounts/{account}/events'],
  },
  notifying: {
    reads: ['/accounts/{account}/actions'],
    writes: ['/accounts/{account}/notices', '/accounts/{account}/events'],
  },
  enforcing: {
    reads: ['/accounts/{account}/actions', '/accounts/{account}/ends'],
    writes: [
      '/accounts/{account}/enforcements',
      '/accounts/{account}/standing',
      '/accounts/{account}/events',
    ],
  },
  lifting: {
    reads: ['/accounts/{account}/actions', '/accounts/{account}/enforcements'],
    writes: [
      '/accounts/{account}/ends',
      '/accounts/{account}/standing',
      '/accounts/{account}/events',
    ],
  },
  expiring: { writes: ['/accounts/{account}/strikes', '/accounts/{account}/events'] },
  appealing: {
    reads: ['/accounts/{account}/actions'],
    writes: ['/accounts/{account}/appeals', '/accounts/{account}/events'],
  },
  reviewing: {
    reads: ['/accounts/{account}/appeals'],
    writes: ['/accounts/{account}/decisions', '/accounts/{account}/events'],
  },
  reinstating: {
    reads: ['/accounts/{account}/actions', '/accounts/{account}/enforcements'],
    writes: [
      '/accounts/{account}/decisions',
      '/accounts/{account}/strikes',
      '/accounts/{account}/ends',
      '/accounts/{account}/standing',
      '/accounts/{account}/events',
    ],
  },
} as const satisfies Record<string, Process>;

export type ProcessName = keyof typeof processes;

export const roles = {
  // The platform itself, and not an agent: creating a record requires access to all records.
  Registry: { params: ['account'], processes: ['opening'], sees: ['/accounts/{account}'] },
  Intake: {
    params: ['account'],
    processes: ['receiving', 'triage', 'closing'],
    sees: [
      '/accounts/{account}/reports',
      '/accounts/{account}/cases',
      '/accounts/{account}/closures',
      '/accounts/{account}/events',
    ],
  },
  Assessor: {
    params: ['account', 'case'],
    processes: ['assessing', 'striking'],
    sees: [
      '/accounts/{account}/cases/{case}',
      '/accounts/{account}/assessments/{case}',
      '/accounts/{account}/strikes/{case}',
      '/accounts/{account}/events',
    ],
  },
  // The officer decides actions. Another moderator decides appeals against these.
  Enforcement: {
    params: ['account', 'officer'],
    processes: ['deciding', 'notifying', 'enforcing', 'lifting', 'expiring'],
    sees: [
      '/accounts/{account}/strikes',
      '/accounts/{account}/actions',
      '/accounts/{account}/notices',
      '/accounts/{account}/enforcements',
      '/accounts/{account}/ends',
      '/accounts/{account}/standing',
      '/accounts/{account}/events',
    ],
  },
  Appeals: {
    params: ['account'],
    processes: ['appealing', 'reviewing', 'reinstating'],
    sees: [
      '/accounts/{account}/actions',
      '/accounts/{account}/appeals',
      '/accounts/{account}/decisions',
      '/accounts/{account}/strikes',
      '/accounts/{account}/enforcements',
      '/accounts/{account}/ends',
      '/accounts/{account}/standing',
      '/accounts/{account}/events',
    ],
  },
} as const satisfies Record<string, Role>;
