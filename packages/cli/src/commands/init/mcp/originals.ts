import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { CliError } from '../../../errors.ts';
import { unreadable } from '../../../files/file-faults.ts';
import { makeFolder } from '../../../files/folders.ts';
import { replaceFile } from '../../../files/replace-file.ts';
import { jsonOrUndefined } from '../json-or-undefined.ts';

const original = z.object({
  client: z.string(),
  /** The client's file, and the members that lead to the entry. */
  file: z.string(),
  at: z.array(z.string()),
  folder: z.string(),
  /** The server's name in the rules, and what tells it from another one of that name. */
  server: z.string(),
  identity: z.string(),
  /** The texts of the entry before and after the change. */
  before: z.string(),
  after: z.string(),
});

/** An entry as it was before the gateway came in front of it. */
export type Original = Readonly<z.output<typeof original>>;

const stored = z.object({ version: z.literal(1), entries: z.array(original) });

/** An environment of an entry can have secrets, so only the person may read the file. */
const OWN = 0o600;

/** The file of the original entries, in the folder of the server. */
export const ORIGINALS = 'mcp-originals.json';

function pathIn(server: string): string {
  return join(server, ORIGINALS);
}

/** @throws CliError `unreadable_file`, `bad_input` */
export function readOriginals(server: string): readonly Original[] {
  const path = pathIn(server);
  if (!existsSync(path)) return [];
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable('The list of original entries', error, { path });
  }
  const { success, data } = stored.safeParse(jsonOrUndefined(text));
  if (success) return data.entries;
  throw new CliError('bad_input', `${path} is not a list of original entries. Restore the file, or move it away.`);
}

export function writeOriginals(server: string, entries: readonly Original[]): void {
  makeFolder(server);
  replaceFile(pathIn(server), `${JSON.stringify({ version: 1, entries }, undefined, 2)}\n`, OWN);
}

export function isOf(
  { file, at }: Original,
  entry: { readonly file: string; readonly at: readonly string[] },
): boolean {
  return file === entry.file && isDeepStrictEqual(at, [...entry.at]);
}
