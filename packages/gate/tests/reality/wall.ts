import { openSandbox, type Sandbox } from '../../src/commands/sandbox/runtime.ts';
import { profileOf, readRules } from '../../src/gateway/index.ts';

/** The sandbox of rules for a project. */
export function wallOf(
  rules: string,
  place: { readonly project: string; readonly home: string },
): Promise<Sandbox> {
  return openSandbox(profileOf(readRules(rules).rules, { ...place, agent: 'claude-code' }));
}
