/**
 * The commands of agents: runs, durable runs and their workers, simulations.
 */
import type { Feature } from '@assize/command';

export const agents: Feature = {
  name: 'agents',
  commands: {
    run: async () => (await import('./run.ts')).run,
    runs: async () => (await import('./runs.ts')).runs,
    worker: async () => (await import('./worker.ts')).worker,
    simulate: async () => (await import('./simulate.ts')).simulateCommand,
  },
  domains: async () => [(await import('#chat')).chatDomain()],
};
