import type { CommandLine } from '@assize/cli/internal/program.ts';

/**
 * The command `assize-experiments`: the experiments of the two papers, and recorded runs before the
 * kernel.
 */
export const EXPERIMENTS: CommandLine = {
  name: 'assize-experiments',
  about: 'The experiments of the effects paper and the memory paper, each executed beside the figures of the paper.',
  commands: {
    effects: async () => (await import('./effects.ts')).effects,
    memory: async () => (await import('./memory.ts')).memory,
    level: async () => (await import('./level.ts')).level,
    provenance: async () => (await import('./provenance.ts')).provenance,
    adjudicate: async () => (await import('./adjudicate.ts')).adjudicate,
    ontology: async () => (await import('../../ontology/cli/index.ts')).ontology,
    mine: async () => (await import('./mine.ts')).mine,
  },
};
