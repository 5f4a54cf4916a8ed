import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError } from './errors.ts';

export function isFile(path: string): boolean {
  return statSync(resolve(path), { throwIfNoEntry: false })?.isFile() === true;
}

/** The module of a file. `instead`: what else could be named. @throws CliError */
export async function importModule(
  file: string,
  what: 'domain' | 'tools' | 'embedder' | 'model',
  instead: string,
): Promise<object> {
  const path = resolve(file);
  if (!isFile(path)) throw new CliError('unreadable_file', `There is no ${what} file ${path}; ${instead}.`);
  return (await import(pathToFileURL(path).href).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('bad_input', `The ${what} file ${path} can't be loaded: ${why}`, { cause });
  })) as object;
}
