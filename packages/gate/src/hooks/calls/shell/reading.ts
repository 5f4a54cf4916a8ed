import type { ParsedScript } from 'unbash';
import type { Folders, Outcome } from './folders.ts';
import type { PartList } from './part-list.ts';
import type { ShellWord } from './shell-word.ts';

/** The reading of one command, as the files of this folder share it. */
export interface Reading {
  readonly parts: PartList;
  readonly home: string | undefined;
  /** Names of functions that the command defines. */
  readonly functions: Set<string>;
  /** Reads a text as commands of their own: `sh -c TEXT`, `eval TEXT`. */
  text(text: string, at: Folders): Outcome;
  /** Reads a nested script. `source` is the text that its positions are in. */
  script(script: ParsedScript, source: string, at: Folders): Outcome;
  /** Reads a program with its arguments. `env` are the names of variables assigned for it. */
  program(words: readonly ShellWord[], env: readonly string[], at: Folders): Outcome;
}
