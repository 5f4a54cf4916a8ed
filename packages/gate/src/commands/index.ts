/**
 * The commands of the gate: hooks, calls and their files, standing approvals, policies. Rules files
 * are a form of policies.
 */
import type { Feature } from '@assize/command';
import { isRulesFile } from './is-rules-file.ts';

export const gate: Feature = {
  name: 'gate',
  commands: {
    mcp: async () => (await import('./mcp.ts')).mcp,
    'run-in-sandbox': async () => (await import('./sandbox/run-in-sandbox.ts')).runInSandbox,
    hook: async () => (await import('./hook/index.ts')).hook,
    'effects calls': async () => (await import('./calls.ts')).calls,
    standing: async () => (await import('./standing/index.ts')).standing,
    'blast undo': async () => (await import('./undo.ts')).undo,
    rules: async () => (await import('./rules/index.ts')).rules,
    policy: async () => (await import('./policy/index.ts')).policy,
    'init claude-code': async () => (await import('./init/claude-code/index.ts')).initClaudeCode,
    'init codex': async () => (await import('./init/codex/index.ts')).initCodex,
    'init mcp': async () => (await import('./init/mcp/index.ts')).initMcp,
  },
  domains: async () => [(await import('#gateway')).gateway()],
  // Of a rules file, this is the part that denies without state.
  policyForm: {
    reads: isRulesFile,
    read: async (path) => {
      const [{ rulesPolicy }, { rulesFileIn }] = await Promise.all([
        import('#gateway'),
        import('./rules-files.ts'),
      ]);
      return rulesPolicy(rulesFileIn(path).rules);
    },
  },
};
