/**
 * The commands of audits: recorded work under other rules, everything that derives from a bad
 * entry, checkpoints, proofs, reports, and the checks of a log and of a store.
 *
 * Guarantees: only the responses of `blast` write entries.
 */
import type { Feature } from '@assize/command';

export const audit: Feature = {
  name: 'audit',
  commands: {
    lab: async () => (await import('./lab.ts')).lab,
    'lab backtest': async () => (await import('./backtest.ts')).backtest,
    'lab mine': async () => (await import('./mine.ts')).mine,
    'policy try': async () => (await import('./try-policy.ts')).tryPolicy,
    blast: async () => (await import('./blast/index.ts')).blast,
    'blast dependents': async () => (await import('./dependents.ts')).dependents,
    checkpoint: async () => (await import('./checkpoint.ts')).checkpoint,
    'bundle proof': async () => (await import('./prove.ts')).prove,
    report: async () => (await import('./report.ts')).report,
    witness: async () => (await import('./witness.ts')).witness,
  },
  domains: async () => [(await import('#incident-domain')).incident],
};
