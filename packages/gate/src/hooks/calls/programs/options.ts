import { type ShellWord, wordValues } from '../shell/shell-word.ts';

/**
 * The options of a program, one word each. An option has its names, `-x,--long`: `flags` gets the
 * last name (`a&b`: both). `=` follows if the option takes a value, `=?` if it takes one in the
 * same word only, and `t` if the value does not name a file. Marks follow: with `+` the program
 * goes below its operands, with `>` it writes, with `!` it runs something. With `.` it needs no
 * other text, and with `|` the rest are words of what it runs. A program reads a word with one dash
 * that the text does not list as a bundle of letters.
 */
export type OptionsText = string;

interface Option {
  readonly name: string;
  readonly value: '=' | '=?' | undefined;
  readonly isText: boolean;
  readonly marks: string;
}

/** The options and operands of one use of a program. */
export interface ReadOptions {
  readonly flags: Set<string>;
  /** The values of each option, null where only the shell knows one. */
  readonly values: Map<string, (string | null)[]>;
  readonly operands: ShellWord[];
  /** The operands after `--`, if it is there. */
  afterDashes: readonly ShellWord[] | undefined;
  /** Words that name no file. */
  readonly texts: Set<ShellWord>;
  /** The marks of all options together. */
  marks: string;
  /** Whether a word is, or can be, an option that the text does not have. */
  unknown: boolean;
}

const OPTION = /^([^=+>!|]+?)(?:(=\??)(t?))?([+>!.|]*)$/;
const tables = new Map<OptionsText, ReadonlyMap<string, Option>>();

function tableOf(text: OptionsText): ReadonlyMap<string, Option> {
  const known = tables.get(text);
  if (known !== undefined) return known;
  const table = new Map<string, Option>();
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const [, names = '', value, isText, marks = ''] = OPTION.exec(word) ?? [];
    const all = names.split(',');
    for (const each of all)
      table.set(each, {
        name: all.at(-1) as string,
        value: value as Option['value'],
        isText: isText === 't',
        marks,
      });
  }
  tables.set(text, table);
  return table;
}

/**
 * Reads the words of a program. `stops`: the first operand ends the options, as in programs that
 * run another one. Elsewhere options and operands may be mixed up to `--`.
 */
export function readOptions(
  text: OptionsText,
  words: readonly ShellWord[],
  stops: boolean = false,
): ReadOptions {
  const table = tableOf(text);
  const read: ReadOptions = {
    ...{ flags: new Set(), values: new Map(), operands: [], texts: new Set() },
    ...{ afterDashes: undefined, marks: '', unknown: false },
  };
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as ShellWord;
    if (word.value === '--') {
      read.afterDashes = words.slice(i + 1);
      read.operands.push(...read.afterDashes);
      break;
    }
    if (wordValues(word) === undefined && word.prefix === '') read.unknown = true;
    if (!word.value?.startsWith('-') || word.value === '-') {
      if (!stops) {
        read.operands.push(word);
        continue;
      }
      read.operands.push(...words.slice(i));
      break;
    }
    if (readOption(table, word, words[i + 1], read)) i++;
    if (!read.marks.includes('|')) continue;
    read.operands.push(...words.slice(i + 1));
    break;
  }
  if (read.unknown && words.some((word) => wordValues(word) === undefined)) read.flags.add('*');
  return read;
}

/** Reads one word of options. Returns whether the next word is the value of the last one. */
function readOption(
  table: ReadonlyMap<string, Option>,
  word: ShellWord,
  next: ShellWord | undefined,
  read: ReadOptions,
): boolean {
  const value = word.value as string;
  const [name, attached] = split(value, '=');
  const whole = table.get(name);
  if (whole !== undefined) return take(whole, word, attached, next, read);
  if (value.startsWith('--')) {
    const longer = [...table].filter(([each]) => each.startsWith(name));
    const options = new Set(longer.map(([, option]) => option));
    let takesNext = false;
    for (const option of options) takesNext = take(option, word, attached, next, read);
    if (options.size === 0) read.flags.add(name);
    read.unknown ||= options.size !== 1;
    return takesNext;
  }
  for (let i = 1; i < value.length; i++) {
    const option = table.get(`-${value.charAt(i)}`);
    const rest = value.slice(i + 1);
    if (option === undefined) {
      read.flags.add(`-${value.charAt(i)}`);
      read.unknown ||= !/^-\d+$/.test(value);
    } else if (option.value !== undefined)
      return take(option, word, rest === '' ? undefined : rest, next, read);
    else take(option, word, undefined, next, read);
  }
  return false;
}

function take(
  { name, value, isText, marks }: Option,
  word: ShellWord,
  attached: string | undefined,
  next: ShellWord | undefined,
  read: ReadOptions,
): boolean {
  const takesNext = value === '=' && attached === undefined && next !== undefined;
  const given = takesNext ? next.value : attached;
  for (const each of name.split('&')) read.flags.add(each);
  read.marks += marks;
  if (given !== undefined) read.values.set(name, [...(read.values.get(name) ?? []), given]);
  if (isText) read.texts.add(takesNext ? next : word);
  return takesNext;
}

function split(text: string, sign: string): [string, string | undefined] {
  const at = text.indexOf(sign);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
