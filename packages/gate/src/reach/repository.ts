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

/** No setting of a repository makes git run a program or fetch anything. */
const SAFE = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'protocol.allow=never',
  'log.showSignature=false',
].flatMap((each) => ['-c', each]);

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
): Promise<string | undefined> {
  const env = { ...ENV, HOME: homedir() };
  const given = ['--no-pager', ...SAFE, ...args];
  const options = { cwd: folder, env, timeout: WAIT_MS, maxBuffer: LISTED_BYTES };
  return promisify(execFile)('git', given, options).then(
    ({ stdout }) => stdout,
    ({ code, stdout }) => (code === 1 ? stdout : undefined),
  );
}

/** Settings with which no filter of a repository runs while git compares files. */
export async function unfiltered(folder: string): Promise<readonly string[]> {
  const listed = await gitText(folder, [
    'config',
    '-z',
    '--name-only',
    '--get-regexp',
    '^filter[.]',
  ]);
  const filters = new Set(listed?.split('\0').flatMap((name) => /^.*(?=[.])/.exec(name) ?? []));
  const unset = ['clean=', 'process=', 'required=false'];
  return [...filters].flatMap((name) => unset.flatMap((each) => ['-c', `${name}.${each}`]));
}
