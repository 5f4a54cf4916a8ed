import { CliError } from '../../../errors.ts';
import type { StorelessOptions } from '../../../store/session.ts';
import { type ClientText, readClient } from './client-text.ts';
import { CLIENTS, type ClientFile, type ClientName, filesOf, namedFile, ownPlaces } from './clients.ts';

export interface Options extends StorelessOptions {
  readonly file?: string;
  readonly only: readonly string[];
  readonly server: string;
  readonly url?: string;
  readonly rules?: boolean;
  readonly yes?: boolean;
  readonly undo?: boolean;
  readonly check?: boolean;
}

/** Whether the command is about an entry of this name in a client's file. */
export function meant({ only }: Options): (name: string) => boolean {
  return (name) => only.length === 0 || only.includes(name);
}

/** The files that the command line names, whether they exist or not. */
export function namedFiles(client: ClientName | undefined, { file }: Options): readonly ClientFile[] {
  const places = ownPlaces();
  if (file !== undefined) return [namedFile(file, client, places)];
  return CLIENTS.filter((one) => client === undefined || one === client).flatMap((one) => filesOf(one, places));
}

/** The files that the command line names and that exist. @throws CliError `usage` if none does */
export function foundFiles(client: ClientName | undefined, options: Options): readonly ClientText[] {
  const files = namedFiles(client, options);
  const found = files.flatMap((file) => readClient(file) ?? []);
  if (found.length > 0) return found;
  throw new CliError(
    'usage',
    `There is no file ${files.map(({ path }) => path).join(', and no ')}. Name the client's file with --file.`,
  );
}
