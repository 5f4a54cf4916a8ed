/**
 * The commands of audits: checkpoints, proofs, reports, and the checks of a log and of a store.
 *
 * Never: writes to a ledger.
 */
import type { Feature } from '@assize/command';

export const audit: Feature = {
  name: 'audit',
  commands: {
    checkpoint: async () => (await import('./checkpoint.ts')).checkpoint,
    prove: async () => (await import('./prove.ts')).prove,
    report: async () => (await import('./report.ts')).report,
    audit: async () => (await import('./audit.ts')).audit,
    fsck: async () => (await import('./fsck.ts')).fsck,
    witness: async () => (await import('./witness.ts')).witness,
  },
  domains: async () => [(await import('#incident')).incident],
};
