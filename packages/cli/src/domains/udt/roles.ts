/**
 * The three roles of Agentic Redux, Table 1, each confined to one patient, and the paths that each
 * step of their work can touch. Billing sees the history of claims and neither tests nor tiers. Its
 * stale view is not its mistake, and the kernel does not depend on it.
 */
import type { Process, Role } from 'assize/internal/kernel';

/** The counted values of a patient’s tier. Only enrolment writes the rest of the record. */
const abstinence = [
  '/patients/{patient}/last_positive',
  '/patients/{patient}/as_of',
  '/patients/{patient}/consecutive_days',
  '/patients/{patient}/tier',
] as const;
const enrolment = ['/patients/{patient}/program_phase', '/patients/{patient}/enrolled_at'] as const;
const enrolledAt = '/patients/{patient}/enrolled_at';

export const processes = {
  ordering: { reads: ['/events/{patient}'], writes: ['/orders/{patient}'] },
  claiming: { writes: ['/claims/{patient}', '/events/{patient}'] },
  enrolment: { writes: [...enrolment, ...abstinence, '/events/{patient}'] },
  testing: {
    reads: ['/orders/{patient}', enrolledAt],
    writes: ['/tests/{patient}', ...abstinence, '/events/{patient}'],
  },
  tracking: { reads: ['/tests/{patient}', enrolledAt], writes: abstinence },
  // Small on purpose: all its paths are frozen while a doctor decides.
  relapse_response: { reads: ['/tests/{patient}'], writes: ['/relapses/{patient}'] },
  reappraisal: {
    reads: [enrolledAt],
    writes: ['/relapses/{patient}', '/tests/{patient}', ...abstinence, '/events/{patient}'],
  },
} as const satisfies Record<string, Process>;

export type ProcessName = keyof typeof processes;

export const roles = {
  LabOrder: {
    params: ['patient'],
    processes: ['ordering'],
    sees: ['/orders/{patient}', '/events/{patient}'],
  },
  Billing: {
    params: ['patient'],
    processes: ['claiming'],
    sees: ['/claims/{patient}', '/events/{patient}'],
  },
  Clinical: {
    params: ['patient'],
    processes: ['enrolment', 'testing', 'tracking', 'relapse_response', 'reappraisal'],
    sees: [
      ...enrolment,
      ...abstinence,
      '/orders/{patient}',
      '/tests/{patient}',
      '/relapses/{patient}',
      '/events/{patient}',
    ],
  },
} as const satisfies Record<string, Role>;
