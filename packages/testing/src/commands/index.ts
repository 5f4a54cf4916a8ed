/** The command that runs the suite of conformance against drivers. */
import type { Feature } from '@assize/command';

export const testing: Feature = {
  name: 'testing',
  commands: { conformance: async () => (await import('./conformance.ts')).conformance },
};
