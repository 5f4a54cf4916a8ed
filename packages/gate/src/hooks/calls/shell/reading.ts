import type { ParsedScript } from 'unbash';
import type { Folders, Outcome } from './folders.ts';
import type { PartList } from './part-list.ts';
import type { ShellWord } from './shell-word.ts';

/** The names that a program gets from the one before it, if they are known. */
export type Input = ShellWord | undefined;

/** The reading of one command, as the files of this folder share it. */
export interface Reading {
  readonly parts: PartList;
  readonly home: string | undefined;
  /** Names of functions that the command defines. */
  readonly functions: Set<string>;
  /** Every value of a variable of a loop, in its body. */
  readonly variables: Map<string, readonly string[]>;
  /** The variables that the command changes in other ways. */
  readonly assigned: Set<string>;
  /** Reads a text as commands of their own: of another shell, of this one later or, `now`, here. */
  text(text: string, at: Folders, now?: 'now'): Outcome;
  /** Reads a text that can be prose. What no shell can read is left out. */
  maybeText(text: string, at: Folders): void;
  /** Reads a nested script. `source` is the text that its positions are in. */
  script(script: ParsedScript, source: string, at: Folders): Outcome;
  /** Reads a program with its arguments. `env` are the names of variables assigned for it. */
  program(words: readonly ShellWord[], env: readonly string[], at: Folders, input?: Input): Outcome;
}
