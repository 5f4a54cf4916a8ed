import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { CliError, note } from '@assize/command';
import { loadConfig } from 'assize/internal/config';
import { Option } from 'commander';
import {
  isGlob,
  isUnder,
  type ProfileFor,
  profileOf,
  type Rules,
  readRules,
  type SandboxProfile,
  sandboxDigest,
} from '#gateway';
import { keptPlaces } from '#hooks';
import { canonicalPath, gitPlaces, projectOf } from '#reach';
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

/** A sandbox for a project, and the digest of the rules that it follows. */
export interface RulesSandbox {
  readonly profile: SandboxProfile;
  readonly project: string;
  readonly digest: string;
}

/**
 * The sandbox of rules for the project of this folder. It hides the files of the server and the
 * token of its hooks. Says what a sandbox cannot follow.
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
  const project = (await projectOf(here)) ?? here;
  const place = { project, home: realpathSync(homedir()), ...more };
  const { profile, copies } = await projectProfile(inForce, place);
  for (const { rule, says } of profile.notes) note(`Sandbox: rule ${rule} ${says}.`);
  for (const path of copies)
    note(`Sandbox: git has a copy of ${path}, and commands can read it from the objects of git.`);
  const folder = await realName(server);
  const hidden = isUnder(project, folder) ? [] : [folder];
  const kept = (file === '' ? [] : [realpathSync(file)]).filter(
    (path) => profile.writable.some((top) => isUnder(path, top)) && !isUnder(path, folder),
  );
  const { unreadable, unwritable } = profile;
  return {
    profile: {
      ...profile,
      unreadable: [...unreadable, ...hidden],
      unwritable: [...unwritable, ...kept],
    },
    project,
    digest: sandboxDigest(inForce),
  };
}

/**
 * The profile of rules with what is in a project: places that something runs later, the token of
 * hooks, and other names of hidden files. `copies`: hidden files that git has in its objects.
 */
export async function projectProfile(
  rules: Rules,
  place: ProfileFor,
): Promise<{ readonly profile: SandboxProfile; readonly copies: readonly string[] }> {
  const { project } = place;
  const profile = profileOf(rules, { ...place, kept: await keptPlaces(project) });
  const hidden = profile.unreadable.filter((path) => isUnder(path, project) || isGlob(path));
  const terms = { only: 'tracked', revisions: [], isKept: () => true } as const;
  const token = `${project}/.claude/settings.local.json`;
  const more = [...hidden.flatMap((path) => otherNames(path, project))];
  if (existsSync(token)) more.push(token);
  return {
    profile: { ...profile, unreadable: [...new Set([...profile.unreadable, ...more])] },
    copies: (await gitPlaces(project, hidden, terms)) ?? [],
  };
}

/** The names in a project of a file that has several. */
function otherNames(path: string, project: string): readonly string[] {
  if ((statSync(path, { throwIfNoEntry: false })?.nlink ?? 1) < 2) return [];
  const words = [project, '-xdev', '-type', 'f', '-samefile', path];
  return spawnSync('find', words, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
}

/** The path without symbolic links, also of a file that does not exist yet. */
async function realName(given: string): Promise<string> {
  const { path, resolved } = await canonicalPath(resolve(given), '/');
  return resolved ?? path;
}
