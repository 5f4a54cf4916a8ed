import { type Command, Help } from 'commander';
import { packed, widthOf, wrapped } from './wrapped.ts';

/**
 * The form of commands in another command's list: without the common `[options]`, lines are short
 * enough.
 */
export const helpOptions: Partial<Help> = {
  subcommandTerm: (command) =>
    [command.name(), ...command.registeredArguments.map(termOf)].join(' '),
  optionDescription: (option) => {
    const said = Help.prototype.optionDescription(option);
    return option.mandatory && option.defaultValue === undefined ? `${said} (required)` : said;
  },
};

/** The form of a help that lists some of the commands. After a typing error all are suggested. */
export function listing(isListed: (command: Command) => boolean): Partial<Help> {
  return {
    ...helpOptions,
    visibleCommands(this: Help, of) {
      const all = Help.prototype.visibleCommands.call(new Help(), of);
      // The library prepares a help before it shows it, and none for suggestions.
      return this.helpWidth === undefined ? all : all.filter(isListed);
    },
  };
}

/** Wraps the texts below the options too, for this command and its subcommands. */
export function wrapHelp(program: Command): void {
  program.on(
    'beforeAllHelp',
    (context: { write: (text: string) => void; readonly error: boolean }) => {
      const { write, error } = context;
      const width = widthOf(error ? process.stderr : process.stdout);
      context.write = (text) => write(fitted(text, width));
    },
  );
}

/**
 * Prose is wrapped between words, and line breaks inside a sentence are ignored. Indented lines are
 * kept, and a command that is too long continues on the next line.
 */
export function fitted(text: string, width: number): string {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const last = lines.at(-1);
    if (last !== undefined && goesOn(last, line))
      lines.splice(-1, 1, `${last.replace(/ \\$/, '')} ${line.trimStart()}`);
    else lines.push(line);
  }
  return lines.flatMap((line) => (line.length <= width ? [line] : broken(line, width))).join('\n');
}

function goesOn(last: string, line: string): boolean {
  if (last.endsWith(' \\')) return true;
  return /^\S/.test(last) && /^\S/.test(line) && !last.endsWith('.');
}

function broken(line: string, width: number): string[] {
  const [indent = ''] = /^ */.exec(line) ?? [];
  const below = `${indent}${indent === '' ? '' : '  '}`;
  const text = line.slice(indent.length);
  if (!text.startsWith('assize ')) {
    const lines = wrapped(text, width - below.length);
    return lines.map((one, i) => `${i === 0 ? indent : below}${one}`);
  }
  const lines = packed(optionsOf(text), width - below.length - ' \\'.length);
  return lines.map(
    (one, i) => `${i === 0 ? indent : below}${one}${i < lines.length - 1 ? ' \\' : ''}`,
  );
}

/** The words of a command line, each option together with its value. */
function optionsOf(command: string): string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const parts: string[] = [];
  for (const word of words) {
    const last = parts.at(-1);
    if (last !== undefined && /^--\S+$/.test(last) && !word.startsWith('-'))
      parts.splice(-1, 1, `${last} ${word}`);
    else parts.push(word);
  }
  return parts;
}

function termOf(argument: Command['registeredArguments'][number]): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}
