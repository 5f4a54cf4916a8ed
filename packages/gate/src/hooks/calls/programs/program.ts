import type { ToolClass } from '#gateway';
import type { ShellWord } from '../shell/shell-word.ts';
import type { OptionsText, ReadOptions } from './options.ts';

/** The effect of one use of a program, by its words alone. */
export interface Usage {
  /** The subcommand after the options of the program itself: `push`, `stash drop`. */
  readonly command: string;
  /** The options under one name each, `*` for words that only the shell knows. */
  readonly flags: readonly string[];
  /** The operands, `*` for those that only the shell knows. */
  readonly targets: readonly string[];
  /** Of git: the repository that is written, and the names there, `*` where it can be any. */
  readonly remote?: string;
  readonly refs: readonly string[];
  readonly class: ToolClass;
  /** The folders in which the use may read or write every file below. */
  readonly below: readonly ShellWord[];
  /**
   * Left out below them: patterns of names at any depth, of folders with `/` at their end, and
   * places that begin with `./`.
   */
  readonly except: readonly string[];
  /** If there are any: only files with these patterns of names count. */
  readonly include?: readonly string[];
  /** Words that name files, beside those as they are written. */
  readonly names?: readonly ShellWord[];
  /** Only these files count: what git has, does not ignore, or sees as changed. */
  readonly only?: 'tracked' | 'unignored' | 'changed' | 'modified' | 'stashed';
  /** Files that differ between two revisions, `FROM..TO`, count too. */
  readonly revisions?: readonly string[];
  /** The folders that the program enters, one after the other, before it reads other paths. */
  readonly enters: readonly (string | null)[];
  /** Words that name no file. */
  readonly texts: ReadonlySet<ShellWord>;
  /** Whether the use runs or writes what its words do not tell. */
  readonly dynamic: boolean;
  /** It may run the files that it names, or also the program or the text that its words are. */
  readonly runs?: 'files' | 'words';
}

/** One use of a program: its options, with the options of the program above a subcommand. */
export interface Use extends ReadOptions {
  /** The operands that name files. */
  readonly files: readonly ShellWord[];
  readonly enters: Usage['enters'];
}

/** A row of the table: a program, or a subcommand of one. */
export interface Program {
  readonly options?: OptionsText;
  /** The words as they are read, where the first one has a form of its own. */
  readonly words?: (words: readonly ShellWord[]) => readonly ShellWord[];
  /** The first operand ends the options. */
  readonly stops?: boolean;
  /** The number of operands before those that name files. */
  readonly texts?: number | ((use: ReadOptions) => number);
  /**
   * `reads`: a use without the marks `>` and `!` reads. `reads-if-known`: also if the table has all
   * of its options.
   */
  readonly class?: 'reads' | 'reads-if-known' | 'reversible';
  /** Each use goes below its operands. */
  readonly recurses?: boolean;
  readonly commands?: Readonly<Record<string, Program>>;
  /** The option whose value is a folder that the program enters. */
  readonly enters?: string;
  /** The subcommand of a use that names none of them. */
  readonly without?: string;
  /** Another name in place of a subcommand can run anything. */
  readonly isClosed?: boolean;
  /** Marks of a use, as options have them, by more than their names. */
  readonly marks?: (use: ReadOptions) => string;
  /** The rest of the usage, by the words that are not options. */
  readonly use?: (use: Use) => Partial<Usage>;
}
