import { existsSync, globSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isGlob, isUnder, type SandboxProfile } from '#gateway';
import type { IgnoredList } from '../../sandbox/mount-points.ts';
import { isTable, type Table } from './config-text.ts';
import { PROFILE } from './turn-sandbox.ts';

type Access = 'read' | 'write' | 'deny';
type Places = Readonly<Record<string, Access>>;

interface OwnFiles {
  readonly codexHome: string;
  /** Files that the command itself writes. */
  readonly written: readonly string[];
}

/** Folders below a folder with stars that are searched, at the start of each command. */
const DEPTH = 100;

/** Variables that no command gets, beside those of Codex: KEY, SECRET and TOKEN in the name. */
const SECRET_NAMES = ['*PASSW*', '*CREDENTIAL*', 'ASSIZE_*'];

/**
 * The profile of the rules as a permission profile, with the variables of commands. Without
 * `network_proxy` a profile with hosts would open the whole network.
 */
export function codexSandbox(
  profile: SandboxProfile,
  files: OwnFiles,
  variables: IgnoredList['variables'] = {},
): Table {
  const { hosts, refusedHosts } = profile;
  const enabled = hosts.length > 0;
  const domains = Object.fromEntries([
    ...hosts.map((host) => [withoutPort(host), 'allow'] as const),
    ...refusedHosts.map((host) => [withoutPort(host), 'deny'] as const),
  ]);
  return {
    default_permissions: PROFILE,
    permissions: {
      [PROFILE]: {
        filesystem: { glob_scan_max_depth: DEPTH, ...placesOf(profile, files) },
        network: { enabled, ...(enabled && { domains }) },
      },
    },
    ...(enabled && { features: { network_proxy: { enabled } } }),
    shell_environment_policy: {
      ignore_default_excludes: false,
      exclude: SECRET_NAMES,
      ...(Object.keys(variables).length > 0 && { set: variables }),
    },
  };
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

/**
 * The places by their access. Where one is below another, the longer path counts. Codex shows
 * nothing below a hidden folder that can only be read, so such a folder is hidden by naming the
 * places around it. A hidden place that does not exist is a pattern. Codex searches for it at
 * the start of each command.
 */
export function placesOf(
  { unreadable, readable, writable, unwritable }: SandboxProfile,
  { codexHome, written }: OwnFiles,
): Places {
  const isThere = (path: string): boolean =>
    existsSync(path) || written.some((file) => isUnder(file, path));
  const opened = [...readable, ...writable, join(codexHome, 'tmp')];
  const covers = unreadable.filter((top) =>
    opened.some((path) => path !== top && isUnder(path, top)),
  );
  const visible = covers.length === 0 ? [':root'] : [':minimal', ...around('/', covers)];
  // Codex makes a file for a missing place, and concurrent commands take it from each other.
  const kept = unwritable
    .flatMap((path) => (isGlob(path) ? globSync(path) : [path]))
    .filter(isThere);
  const hidden = unreadable
    .filter((path) => isBelow(path, opened) || !isBelow(path, covers))
    .flatMap((path) => (ROOTLESS.test(path) ? writable.map((top) => top + path) : [path]))
    .flatMap((path) => (isGlob(path) || isThere(path) ? [path] : patternsOf(path)));
  // A folder could be moved, with what is kept in it, were it not a place of its own.
  const isClosed = (top: string): boolean => !covers.includes(top);
  const held = [...kept, ...unreadable.filter(isThere)]
    .flatMap((path) => foldersBetween(path, writable))
    .filter((path) => !isBelow(path, [...kept, ...unreadable.filter(isClosed)]));
  const by = (access: Access, paths: readonly string[]) =>
    paths.map((path) => [path, access] as const);
  return Object.fromEntries([
    ...by('read', [...visible, ...opened]),
    ...by('write', [...writable, ...held]),
    ...by('read', kept),
    ...by('deny', [...hidden, join(codexHome, 'auth.json')]),
  ]);
}

/** Patterns for a place that is not there, and for what would be in it. */
function patternsOf(path: string): readonly string[] {
  const name = path.replace(/[^/]$/, '[$&]');
  return [name, `${name}/**`];
}

/** A pattern of the whole disk, in which Codex searches nothing. */
const ROOTLESS = /^\/[^/]*[*?]/;

function isBelow(path: string, tops: readonly string[]): boolean {
  return tops.some((top) => isUnder(path, top));
}

/** The folders above a path that are below one of some others. */
function foldersBetween(path: string, tops: readonly string[]): readonly string[] {
  const folder = dirname(path);
  if (tops.includes(folder) || !isBelow(folder, tops)) return [];
  return [folder, ...foldersBetween(folder, tops)];
}

/** The folders beside those that lead to hidden ones. */
function around(folder: string, hidden: readonly string[]): readonly string[] {
  if (hidden.includes(folder) || SYSTEM.includes(folder)) return [];
  if (!hidden.some((path) => isUnder(path, folder))) return [folder];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => around(join(folder, name), hidden));
}

/** Folders that each sandbox has of its own. */
const SYSTEM = ['/dev', '/proc'];

/** Whether a configuration has a sandbox of its own, in the way of that of Assize. */
export function hasOwnSandbox(config: Table, expected: Table): boolean {
  const names = [...Object.keys(expected), 'sandbox_mode', 'sandbox_workspace_write'];
  return names.some((name) => name in config);
}

/**
 * Whether the configuration that Codex puts together from all its files has another sandbox than
 * the expected one. Folders around the home folder may have come or gone since.
 */
export function isOtherSandbox(config: Table, expected: Table, home: string): boolean {
  const [found, own] = [config, expected].map((table) => JSON.stringify(table, stable(home)));
  const [whole, part] = [JSON.parse(found as string), JSON.parse(own as string)];
  return (
    whole.sandbox_mode !== undefined ||
    !has(whole, part) ||
    !has(part.permissions[PROFILE], whole.permissions[PROFILE])
  );
}

/** Leaves out what is not set, and the folders around the home folder. */
function stable(home: string) {
  return (name: string, value: unknown): unknown => {
    const isAround = !isUnder(name, home) && !isUnder(home, name) && isUnder(home, dirname(name));
    return value === null || (value === 'read' && isAround) ? undefined : value;
  };
}

function has(whole: unknown, part: unknown): boolean {
  if (!isTable(whole) || !isTable(part)) return isDeepStrictEqual(whole, part);
  return Object.entries(part).every(([name, value]) => has(whole[name], value));
}
