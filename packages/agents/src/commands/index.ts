/**
 * The commands of agents: runs, durable runs and their workers, simulations, memory by models and
 * of chats.
 */
import type { Feature } from '@assize/command';

export const agents: Feature = {
  name: 'agents',
  commands: {
    run: async () => (await import('./run.ts')).run,
    'lab simulate': async () => (await import('./simulate.ts')).simulateCommand,
    'memory remember': async () => (await import('./memory/remember.ts')).remember,
    'memory ask': async () => (await import('./memory/ask.ts')).ask,
    'memory extract': async () => (await import('./memory/extract.ts')).extract,
    'memory repair': async () => (await import('./memory/repair.ts')).repair,
  },
  domains: async () => [(await import('#chat')).chatDomain()],
};
