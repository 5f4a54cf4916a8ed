import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { posix } from 'node:path';
import { promisify } from 'node:util';

/** The folder of the git repository around a folder. */
export function repositoryOf(folder: string): string | undefined {
  for (let at = folder; ; at = posix.dirname(at)) {
    if (existsSync(posix.join(at, '.git'))) return at;
    if (at === '/') return undefined;
  }
}

/** The name and the value of a setting of git. */
type Setting = readonly [name: string, value: string];

/** No setting of a repository makes git run a program or fetch anything. */
const SAFE: readonly Setting[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['protocol.allow', 'never'],
  ['log.showSignature', 'false'],
];

/** Nothing of the surroundings decides which repository git reads. */
const ENV = {
  PATH: '/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
};

const LISTED_BYTES = 16 * 1_048_576;
const WAIT_MS = 2_000;

/**
 * The output of git in a folder, also where its status 1 says no. Undefined: it failed, said too
 * much, or took too long.
 */
export async function gitText(
  folder: string,
  args: readonly string[],
  settings: readonly Setting[] = [],
): Promise<string | undefined> {
  const env = { ...ENV, HOME: homedir(), ...environmentOf([...SAFE, ...settings]) };
  const options = { cwd: folder, env, timeout: WAIT_MS, maxBuffer: LISTED_BYTES };
  // A folder that is a file makes the call itself throw.
  return (async () => promisify(execFile)('git', ['--no-pager', ...args], options))().then(
    ({ stdout }) => stdout,
    ({ code, stdout }) => (code === 1 ? stdout : undefined),
  );
}

/** The variables that give git settings. A name of `-c NAME=VALUE` could have no `=`. */
function environmentOf(settings: readonly Setting[]): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(settings.length)],
    ...settings.flatMap(([name, value], i) => [
      [`GIT_CONFIG_KEY_${i}`, name],
      [`GIT_CONFIG_VALUE_${i}`, value],
    ]),
  ]);
}

/**
 * Settings with which no filter of a repository runs while git compares files. Undefined: git does
 * not tell its filters.
 */
export async function unfiltered(folder: string): Promise<readonly Setting[] | undefined> {
  const listed = await gitText(folder, ['config', '-z', '--name-only', '--get-regexp', FILTERS]);
  const names = listed?.split('\0').filter((name) => name !== '');
  const filters = new Set(names?.map((name) => name.slice(0, name.lastIndexOf('.'))));
  return (
    names &&
    [...filters].flatMap((name): Setting[] => [
      [`${name}.clean`, ''],
      [`${name}.process`, ''],
      [`${name}.required`, 'false'],
    ])
  );
}

const FILTERS = '^filter[.]';
