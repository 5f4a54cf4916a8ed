import { isInstance } from 'assize/internal/base';
import type { CallPart } from '#calls';
import { isPlainText } from './plain-text.ts';
import { startIn } from './shell/folders.ts';
import { Reader } from './shell/reader.ts';

/** Where a command runs. */
export interface Place {
  /** The absolute folder, without symbolic links. */
  readonly cwd: string;
  /** The value of `HOME`. Without it, `~` is not known. */
  readonly home?: string;
}

const BYTES_MAX = 64 * 1024;
const SHOWN_MAX = 4_000;

/** Bash and the parser disagree on an escaped end of a line in backquotes in other quotes. */
const UNCLEAR = /`[\s\S]*\\\\\n/;

/**
 * The parts of a command of bash: every program that it could run, with its arguments, the files of
 * its redirections, and the addresses that it names. Text whose effect is only known while it runs
 * is `shell/dynamic`. A command that cannot be read safely is one part `shell/unparsed`.
 *
 * The parts are never less than what bash runs for the command. Not included: what the programs
 * themselves run, and functions and aliases that the shell already has.
 */
export function commandParts(command: string, place: Place): readonly CallPart[] {
  return partsOf(command, place) ?? [unparsed(command)];
}

function partsOf(command: string, { cwd, home }: Place): readonly CallPart[] | undefined {
  if (Buffer.byteLength(command) > BYTES_MAX || !isPlainText(command)) return undefined;
  if (UNCLEAR.test(command)) return undefined;
  const reader = new Reader(home);
  try {
    reader.text(command, startIn(cwd));
  } catch (error) {
    // The parser and the reading recurse, and a text can be nested too deep for them.
    if (isInstance(error, RangeError)) return undefined;
    throw error;
  }
  return reader.parts.result();
}

function unparsed(command: string): CallPart {
  const shown = command.length > SHOWN_MAX ? `${command.slice(0, SHOWN_MAX)}…` : command;
  return { server: 'shell', tool: 'unparsed', args: { text: shown.toWellFormed() } };
}
