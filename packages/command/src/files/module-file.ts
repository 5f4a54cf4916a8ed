import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isAssizeError, toError } from 'assize/internal/base';
import { importFile, whyNotLoaded } from 'assize/internal/config';
import { CliError } from '../errors.ts';
import { divertPrints } from '../terminal/output.ts';

export function isFile(path: string): boolean {
  return statSync(resolve(path), { throwIfNoEntry: false })?.isFile() === true;
}

type ModuleSort =
  | 'domain'
  | 'tools'
  | 'embedder'
  | 'model'
  | 'agents'
  | 'architectures'
  | 'variants'
  | 'simulators';

/**
 * The module of a file. `instead`: the alternative in the error.
 * @throws CliError
 */
export async function importModule(
  file: string,
  what: ModuleSort,
  instead: string,
): Promise<object> {
  const path = resolve(file);
  // A URL that was given by mistake keeps its form, in which the output hides its password.
  const named = file.includes('://') ? file : path;
  if (!isFile(path)) {
    const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
    const why = isThere
      ? 'is not a file. Name a file, such as a module in that folder'
      : `does not exist. ${instead}`;
    throw new CliError('unreadable_file', `The ${what} file ${named} ${why}.`);
  }
  divertPrints();
  return importFile(path).catch((thrown: unknown) => {
    const cause = toError(thrown);
    throw new CliError('bad_input', `Cannot load the ${what} file ${path}: ${whyOf(cause)}`, {
      cause,
    });
  });
}

/**
 * The matching exports of a file. An export that throws when read is the file's fault.
 * @throws CliError; refusals by name
 */
export function lookedAt<T>(file: string, what: ModuleSort, look: () => T): T {
  try {
    return look();
  } catch (thrown) {
    const cause = toError(thrown);
    if (isAssizeError(cause)) throw cause;
    const why = `Cannot read the exports of the ${what} file ${resolve(file)}: ${whyOf(cause)}`;
    throw new CliError('bad_input', why, { cause });
  }
}

/** A module may throw any value, also one without a string form. */
export function whyOf(cause: unknown): string {
  try {
    return whyNotLoaded(cause);
  } catch {
    return 'the thrown value has no text';
  }
}

/** The error for a file whose content is not valid. `what`: the fault, and what to do. */
export function badFile(path: string, what: string): CliError {
  return new CliError('bad_input', `The file ${path} is not valid: ${what}.`);
}
