/**
 * The gate on the command line: rules files as policies, and the domain of the gateway.
 */
import type { Feature } from '@assize/command';
import { isRulesFile } from './is-rules-file.ts';

export const gate: Feature = {
  name: 'gate',
  domains: async () => [(await import('#gateway')).gatewayDomain],
  // Of a rules file, this is the part that denies without state.
  policyForm: {
    reads: isRulesFile,
    read: async (path) => {
      const [{ rulesPolicy }, { rulesFileIn }] = await Promise.all([import('#gateway'), import('./rules-files.ts')]);
      return rulesPolicy(rulesFileIn(path).rules);
    },
  },
};
