/**
 * The commands of servers: their tokens, their operations, and the agents that they stop.
 */
import type { Feature } from '@assize/command';

export const server: Feature = {
  name: 'server',
  commands: {
    token: async () => (await import('./token.ts')).token,
    api: async () => (await import('./api.ts')).api,
    agents: async () => (await import('./agents.ts')).agents,
  },
  operations: async () => (await import('../operations/table.ts')).OPERATIONS,
};
