import { plainWord, type ShellWord } from '../shell/shell-word.ts';
import { ARCHIVES } from './archives.ts';
import { FILES } from './files.ts';
import { GIT } from './git.ts';
import { INTERPRETERS, withoutVersion } from './interpreters.ts';
import { readOptions } from './options.ts';
import type { Program, Usage, Use } from './program.ts';
import { SEARCH } from './search.ts';
import { OTHERS, TEXT } from './text.ts';
import { WRAPPERS } from './wrappers.ts';

export type { Usage } from './program.ts';

const PROGRAMS: Readonly<Record<string, Program>> = {
  ...OTHERS,
  ...WRAPPERS,
  ...TEXT,
  ...FILES,
  ...SEARCH,
  ...ARCHIVES,
  git: GIT,
};

/**
 * The effect of one use of a program. A program that the table does not have may run the program
 * that its words name, and goes below its operands with an option that usual programs have for it.
 */
export function usageOf(program: string, words: readonly ShellWord[]): Usage {
  const row = rowOf(program);
  const usage = read(row ?? {}, words, undefined);
  if (row !== undefined && row !== memberOf(OTHERS, program)) return usage;
  const goesBelow =
    row === undefined && usage.flags.some((flag) => /^(?:-[rR]|--recursive)$/.test(flag));
  return {
    ...usage,
    ...(!INSTALLS.test(usage.command) && { runs: 'words' }),
    ...(goesBelow && { below: words.filter(({ value }) => !value?.startsWith('-')) }),
  };
}

/** Subcommands whose operands are names of packages. */
const INSTALLS =
  /^(?:add|ci|i|info|install|remove|rm|search|show|uninstall|update|upgrade|view)(?: |$)/;

export function isKnownProgram(name: string): boolean {
  return rowOf(name) !== undefined;
}

/** The row of a program. An interpreter can have a version in its name. */
function rowOf(name: string): Program | undefined {
  return memberOf(INTERPRETERS, withoutVersion(name)) ?? memberOf(PROGRAMS, name);
}

/** A use of the program above a subcommand. */
interface Above {
  readonly use: Use;
  readonly path: readonly string[];
}

function read(program: Program, words: readonly ShellWord[], above: Above | undefined): Usage {
  const { commands, options = '', stops = commands !== undefined } = program;
  const found = readOptions(options, program.words?.(words) ?? words, stops);
  const before = countOf(program, found);
  const use: Use = {
    ...found,
    flags: new Set([...(above?.use.flags ?? []), ...found.flags]),
    texts: new Set([...(above?.use.texts ?? []), ...found.texts]),
    values: new Map([...(above?.use.values ?? []), ...found.values]),
    files: found.operands.slice(before),
    enters: [...(above?.use.enters ?? []), ...(found.values.get(program.enters ?? '') ?? [])],
    marks: (above?.use.marks ?? '') + found.marks + (program.marks?.(found) ?? ''),
    unknown: found.unknown || above?.use.unknown === true,
  };
  // With an option that may have a value, the first operand may be that value.
  for (const word of found.unknown ? [] : found.operands.slice(0, before)) use.texts.add(word);
  const path = above?.path ?? [];
  if (commands === undefined) return { ...usual(program, use, path), ...program.use?.(use) };
  const [first, ...rest] = use.operands;
  const own = first?.value == null ? undefined : memberOf(commands, first.value);
  const isNamed = first?.value !== null;
  if (own === undefined && program.without !== undefined && isNamed)
    return read(commands[program.without] as Program, words, {
      use: above?.use ?? NO_USE,
      path: [...path, program.without],
    });
  if (first === undefined) return { ...usual(program, use, path), ...program.use?.(use) };
  use.texts.add(first);
  const below = { use, path: [...path, first.value ?? '*'] };
  const usage = read(own ?? {}, rest, below);
  const isOpen = own === undefined && (program.isClosed === true || !isNamed);
  return isOpen ? { ...usage, dynamic: true } : usage;
}

const NO_USE: Use = { ...readOptions('', []), files: [], enters: [] };

function usual(program: Program, use: Use, path: readonly string[]): Usage {
  const goesBelow = program.recurses === true || use.marks.includes('+');
  return {
    command: path.join(' '),
    flags: [...use.flags].sort(),
    targets: use.operands.map(({ value }) => value ?? '*'),
    refs: [],
    class: classOf(program, use),
    below: !goesBelow ? [] : use.files.length === 0 ? [plainWord('.')] : use.files,
    except: [],
    enters: use.enters,
    texts: use.texts,
    dynamic: use.marks.includes('!'),
  };
}

function classOf(program: Program, { marks, unknown }: Use): Usage['class'] {
  if (program.class === undefined || /[>!]/.test(marks)) return 'irreversible';
  if (program.class === 'reversible') return 'reversible';
  return program.class === 'reads' || !unknown ? 'read' : 'irreversible';
}

function countOf({ texts = 0 }: Program, found: ReturnType<typeof readOptions>): number {
  return typeof texts === 'number' ? texts : texts(found);
}

function memberOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
