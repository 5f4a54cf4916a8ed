/**
 * The commands of the gate: hooks, calls and their files, standing approvals, policies. Rules files
 * are a form of policies.
 */
import type { Feature } from '@assize/command';
import { isRulesFile } from './is-rules-file.ts';

export const gate: Feature = {
  name: 'gate',
  commands: {
    hook: async () => (await import('./hook/index.ts')).hook,
    calls: async () => (await import('./calls.ts')).calls,
    standing: async () => (await import('./standing/index.ts')).standing,
    undo: async () => (await import('./undo.ts')).undo,
    policy: async () => (await import('./policy/index.ts')).policy,
  },
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
