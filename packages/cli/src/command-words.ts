import { CliError } from '@assize/command';
import type { Command } from 'commander';

/** Options that are accepted before the command too. The value: whether the option has one. */
const EARLY_OPTIONS: Readonly<Record<string, boolean>> = {
  '--json': false,
  '--store': true,
  '--domain': true,
  '--tools': true,
  '--anchors': true,
  '--config': true,
};

/** The arguments of one line: options before the command, and the line from the command on. */
export interface CommandWords {
  readonly early: readonly string[];
  readonly words: readonly string[];
}

/** @throws CliError `usage` for an option without its value, or without a command */
export function commandWords(args: readonly string[]): CommandWords {
  let at = 0;
  for (let option = args[0]; option !== undefined && isEarly(option); option = args[at]) {
    const takesNext = EARLY_OPTIONS[option] === true;
    if (takesNext && args[at + 1] === undefined)
      throw new CliError('usage', `The option ${option} has no value. Pass a value after it.`);
    at += takesNext ? 2 : 1;
  }
  if (at > 0 && at === args.length)
    throw new CliError('usage', 'The line names no command. List the commands with assize help.');
  return { early: args.slice(0, at), words: args.slice(at) };
}

function isEarly(option: string): boolean {
  const [name = '', ...value] = option.split('=');
  return Object.hasOwn(EARLY_OPTIONS, name) && (value.length === 0 || EARLY_OPTIONS[name] === true);
}

/**
 * The line as the program parses it: `help COMMAND` is `COMMAND --help`, and early options follow
 * the names of the command.
 */
export function parsedLine(program: Command, { early, words: all }: CommandWords): string[] {
  const isHelp = all[0] === 'help';
  const words = isHelp ? all.slice(1).filter((word) => !word.startsWith('-')) : all;
  const { names, rest, command } = named(program, words);
  const [next] = rest;
  // Alone, an unknown word is refused by name, also before `--help`, unless it can be an argument.
  const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
  if (isGroup && next !== undefined && !next.startsWith('-') && next !== 'help')
    return [...names, next];
  return isHelp ? [...names, '--help'] : [...names, ...early, ...rest];
}

/** The command that the leading words name, with its parent commands. */
function named(program: Command, words: readonly string[]) {
  let command = program;
  let count = 0;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    command = next;
    count++;
  }
  return { command, names: words.slice(0, count), rest: words.slice(count) };
}
