import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ConfigError } from './errors.ts';

/** The names of a config file. A folder has at most one of them. */
export const CONFIG_FILES: readonly string[] = ['ts', 'mts', 'js', 'mjs', 'json'].map(
  (end) => `assize.config.${end}`,
);

/**
 * The config file of a folder, or of the nearest folder above that has one. The search ends at the
 * folder of a repository (`.git`) and at the root.
 *
 * A config runs as code. A file above `from` is therefore refused if it belongs to another user:
 * every user can put one into a shared folder such as `/tmp`.
 *
 * @throws ConfigError `bad_config`
 */
export function findConfig(from: string): string | undefined {
  const start = resolve(from);
  for (let folder = start; ; folder = dirname(folder)) {
    const file = configIn(folder);
    if (file !== undefined) {
      if (folder !== start) requireOwnFile(file);
      return file;
    }
    if (existsSync(join(folder, '.git')) || dirname(folder) === folder) return undefined;
  }
}

function configIn(folder: string): string | undefined {
  const files = CONFIG_FILES.map((name) => join(folder, name)).filter(isFile);
  if (files.length <= 1) return files[0];
  throw new ConfigError(
    'bad_config',
    `The folder has several configs: ${files.join(', ')}. Remove all but one, or name one with --config.`,
    { evidence: { files } },
  );
}

function requireOwnFile(file: string): void {
  const user = process.getuid?.();
  const { uid } = statSync(file);
  if (user === undefined || uid === user || uid === 0) return;
  throw new ConfigError(
    'bad_config',
    `The config ${file} belongs to another user, and would run as code. Check it, and name it with --config.`,
    { evidence: { file } },
  );
}

/** @throws the errors of the system, except for a missing file */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
