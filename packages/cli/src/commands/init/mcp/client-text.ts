import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { isInstance } from 'assize/internal/base';
import { CliError } from '../../../errors.ts';
import { unreadable } from '../../../files/file-faults.ts';
import type { ClientFile } from './clients.ts';
import type { ServerEntry } from './formats/entries.ts';
import { formatOf } from './formats/format-of.ts';

/** A client's file as it was read. */
export interface ClientText extends ClientFile {
  readonly text: string;
  /** The mark that some editors put before a text. */
  readonly mark: string;
  /** The servers of the file, those of every project included. */
  readonly entries: readonly ServerEntry[];
}

const MARK = '\uFEFF';

/** Undefined if the file does not exist. @throws CliError `unreadable_file`, `bad_input` */
export function readClient(file: ClientFile): ClientText | undefined {
  if (!existsSync(file.path)) return undefined;
  const path = realpathSync(file.path);
  let whole: string;
  try {
    whole = readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable('The configuration of an MCP client', error, { path });
  }
  const mark = whole.startsWith(MARK) ? MARK : '';
  return withText({ ...file, path, mark, text: '', entries: [] }, whole.slice(mark.length));
}

/** The servers that the client starts in the folder of the file. */
export function ownEntries({ entries, folder }: ClientText): readonly ServerEntry[] {
  return entries.filter(({ at: [place, project] }) => place !== 'projects' || project === folder);
}

/** @throws CliError `bad_input` */
export function withText(file: ClientText, text: string): ClientText {
  try {
    return { ...file, text, entries: formatOf(file).entries(text) };
  } catch (error) {
    if (!isInstance(error, SyntaxError)) throw error;
    throw new CliError(
      'bad_input',
      `${file.path} cannot be read: ${error.message}. Correct it, and repeat the command.`,
    );
  }
}
