import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { CliError, note } from '@assize/command';
import { loadConfig } from 'assize/internal/config';
import { Option } from 'commander';
import {
  isUnder,
  type ProfileFor,
  profileOf,
  readRules,
  type SandboxProfile,
  sandboxDigest,
} from '#gateway';
import { canonicalPath, projectOf } from '#reach';
import { serverOption } from '../init/own-server.ts';
import { rulesFileIn } from '../rules-files.ts';

/** Where the rules of a sandbox are. */
export interface RulesPlace {
  readonly rules?: string;
  readonly server: string;
  /** The rules of a server that is not written yet. */
  readonly text?: string;
}

export function rulesOptions(): readonly Option[] {
  return [
    new Option('--rules <file>', 'rules file of the sandbox (default: that of the server)'),
    serverOption(),
  ];
}

/** A sandbox for this folder, and the digest of the rules that it follows. */
export interface RulesSandbox {
  readonly profile: SandboxProfile;
  readonly digest: string;
}

/**
 * The sandbox of rules for this folder. It hides the files of the server and the token of its
 * hooks. Says what a sandbox cannot follow.
 */
export async function sandboxOfRules(
  { rules, server, text }: RulesPlace,
  more: Pick<ProfileFor, 'agent' | 'server'> = {},
): Promise<RulesSandbox> {
  const file = text === undefined ? (rules ?? (await loadConfig({ from: server })).policyFile) : '';
  if (file === undefined)
    throw new CliError('usage', `${server} names no rules file. Pass --rules FILE.`);
  const { rules: inForce } = text === undefined ? rulesFileIn(file) : readRules(text);
  const here = realpathSync('.');
  const place = { project: (await projectOf(here)) ?? here, home: realpathSync(homedir()) };
  const profile = profileOf(inForce, { ...place, ...more });
  for (const { rule, says } of profile.notes) note(`Sandbox: rule ${rule} ${says}.`);
  const secrets = [await realName(server)]
    .concat([`${place.project}/.claude/settings.local.json`].filter((path) => existsSync(path)))
    .filter((path) => !isUnder(place.project, path));
  const isIn = (path: string) => (top: string) => isUnder(path, top);
  const kept = (file === '' ? [] : [realpathSync(file)]).filter(
    (path) => profile.writable.some(isIn(path)) && !secrets.some(isIn(path)),
  );
  const { unreadable, unwritable } = profile;
  return {
    profile: {
      ...profile,
      unreadable: [...new Set([...unreadable, ...secrets])],
      unwritable: [...unwritable, ...kept],
    },
    digest: sandboxDigest(inForce),
  };
}

/** The path without symbolic links, also of a file that does not exist yet. */
async function realName(given: string): Promise<string> {
  const { path, resolved } = await canonicalPath(resolve(given), '/');
  return resolved ?? path;
}
