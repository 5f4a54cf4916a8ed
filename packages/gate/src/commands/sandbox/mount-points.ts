import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { isGlob, type SandboxProfile } from '#gateway';

/** Files for which the runtime itself keeps places free in a project, in version 0.0.83. */
const OF_RUNTIME = [
  ...['.gitconfig', '.gitmodules', '.bashrc', '.bash_profile', '.zshrc', '.zprofile', '.profile'],
  ...['.ripgreprc', '.mcp.json', '.vscode', '.idea', '.claude/commands', '.claude/agents'],
];

/** The list of mount points, in the folder that Git has for itself. */
const LIST = 'info/assize-mount-points';

/** A file, and the variables with which Git takes it for its list of ignored files. */
export interface IgnoredList {
  readonly path: string;
  readonly text: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The list with which Git overlooks the mount points of a sandbox: a hidden place, and one that is
 * kept and not there, are devices or empty files in it. Undefined outside of a repository. `free`:
 * names in the project for which the sandbox itself keeps places.
 */
export function mountPoints(
  project: string,
  { unwritable, unreadable }: Pick<SandboxProfile, 'unwritable' | 'unreadable'>,
  free: readonly string[] = OF_RUNTIME,
): IgnoredList | undefined {
  const git = (...args: readonly string[]): string | undefined => {
    const { status, stdout } = spawnSync('git', args, { cwd: project, encoding: 'utf8' });
    return status === 0 ? stdout.trimEnd() : undefined;
  };
  const [top = '', list] =
    git('rev-parse', '--show-toplevel', '--git-path', LIST)?.split('\n') ?? [];
  if (list === undefined) return undefined;
  // A path that fits a pattern is there.
  const kept = unwritable.filter((place) => !isGlob(place));
  const missing = [...kept, ...free.map((name) => join(project, name))]
    .map(firstMissing)
    .concat(unreadable)
    .map((path) => (path === '' ? '' : relative(top, path)))
    .filter((name) => name !== '' && !name.startsWith('.git/') && !name.startsWith('..'));
  const path = resolve(project, list);
  const own = git('config', '--type=path', 'core.excludesFile') ?? join(homedir(), OWN_LIST);
  const ownText = existsSync(own) ? `${readFileSync(own, 'utf8')}\n` : '';
  const names = [...new Set(missing)].map((name) => `/${name}\n`);
  const variables = {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.excludesFile',
    GIT_CONFIG_VALUE_0: path,
  };
  return { path, text: `${ownText}${names.join('')}`, variables };
}

/** Writes the list. Returns its variables. */
export function writeList(list: IgnoredList | undefined): IgnoredList['variables'] {
  if (list === undefined) return {};
  mkdirSync(dirname(list.path), { recursive: true });
  writeFileSync(list.path, list.text);
  return list.variables;
}

const OWN_LIST = '.config/git/ignore';

/** The highest part of a path that is not there. Empty if all of it is. */
function firstMissing(path: string): string {
  if (existsSync(path)) return '';
  const above = dirname(path);
  return existsSync(above) ? path : firstMissing(above);
}
