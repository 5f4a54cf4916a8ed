import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { CliError, note } from '@assize/command';
import { loadConfig } from 'assize/internal/config';
import { Option } from 'commander';
import { type ProfileFor, profileOf, type SandboxProfile } from '#gateway';
import { serverOption } from '../init/own-server.ts';
import { rulesFileIn } from '../rules-files.ts';

/** Where the rules of a sandbox are. */
export interface RulesPlace {
  readonly rules?: string;
  readonly server: string;
}

export function rulesOptions(): readonly Option[] {
  return [
    new Option('--rules <file>', 'rules file of the sandbox (default: that of the server)'),
    serverOption(),
  ];
}

/** The profile of a rules file for this folder. Says what a sandbox cannot follow. */
export async function profileInForce(
  { rules, server }: RulesPlace,
  more: Pick<ProfileFor, 'agent' | 'server'> = {},
): Promise<SandboxProfile> {
  const file = rules ?? (await loadConfig({ from: server })).policyFile;
  if (file === undefined)
    throw new CliError('usage', `${server} names no rules file. Pass --rules FILE.`);
  const profile = profileOf(rulesFileIn(file).rules, {
    project: realpathSync('.'),
    home: realpathSync(homedir()),
    ...more,
  });
  for (const { rule, says } of profile.notes) note(`Sandbox: rule ${rule} ${says}.`);
  return { ...profile, unwritable: [...profile.unwritable, realpathSync(file)] };
}
