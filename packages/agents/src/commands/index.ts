/**
 * Agents on the command line: the domain of chat memory.
 */
import type { Feature } from '@assize/command';

export const agents: Feature = {
  name: 'agents',
  domains: async () => [(await import('#chat')).chatDomain()],
};
