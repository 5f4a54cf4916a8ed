import { projectProfile } from '../../src/commands/sandbox/profile-in-force.ts';
import { openSandbox, type Sandbox } from '../../src/commands/sandbox/runtime.ts';
import { readRules } from '../../src/gateway/index.ts';

/** The sandbox of rules for a project. */
export async function wallOf(
  rules: string,
  place: { readonly project: string; readonly home: string },
): Promise<Sandbox> {
  const { profile } = await projectProfile(readRules(rules).rules, {
    ...place,
    agent: 'claude-code',
  });
  return openSandbox(profile, place.project);
}
