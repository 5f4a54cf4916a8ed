import type { CommandLine } from '@assize/cli/internal/program.ts';

/**
 * The command `assize-experiments`: the experiments of the papers, and recorded runs before the
 * kernel.
 */
export const EXPERIMENTS: CommandLine = {
  name: 'assize-experiments',
  about:
    'The experiments of the effects paper and the memory paper, each executed beside the figures of the paper.',
  commands: {
    effects: async () => (await import('../experiments/cli/effects.ts')).effects,
    memory: async () => (await import('../experiments/cli/memory.ts')).memory,
    level: async () => (await import('../experiments/cli/level.ts')).level,
    provenance: async () => (await import('../experiments/cli/provenance.ts')).provenance,
    compare: async () => (await import('../architectures/cli/compare.ts')).compare,
    adjudicate: async () => (await import('../experiments/cli/adjudicate.ts')).adjudicate,
    ontology: async () => (await import('../ontology/cli/index.ts')).ontology,
    mine: async () => (await import('../experiments/cli/mine.ts')).mine,
  },
};
