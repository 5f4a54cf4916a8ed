import { isDeepStrictEqual } from 'node:util';
import { CliError } from '@assize/command';
import { isInstance } from 'assize/internal/base';
import { parse, TomlError } from 'smol-toml';
import { isOwnCommand, quoted } from './hooks.ts';

/**
 * The text of `config.toml`. Assize adds marked blocks, and takes exactly these out: every other
 * line stays as the person wrote it.
 */

export type Table = { readonly [name: string]: unknown };

/** The name of a block: the sandbox, the hooks, or the trust in the hooks of a file. */
export type BlockName = 'sandbox' | 'hooks' | `trust in the hooks of ${string}`;

export function trustOf(file: string): BlockName {
  return `trust in the hooks of ${file}`;
}

const END = '# <<< Assize';

function beginOf(name: BlockName): string {
  return `# >>> Assize: ${name}. Taken out by assize init codex --undo`;
}

/** @throws CliError `bad_input` */
export function parsedConfig(text: string, path: string): Table {
  try {
    return parse(text);
  } catch (error) {
    if (!isInstance(error, TomlError)) throw error;
    throw new CliError(
      'bad_input',
      `${path} is not TOML: ${error.message.split('\n')[0]}. Correct it, and repeat.`,
    );
  }
}

/**
 * The text with a block at its end, in place of an earlier one. The members of the sandbox belong
 * to no table, so its block comes first.
 *
 * @throws CliError `bad_input` if the text with the block would say something else than both
 */
export function withBlock(text: string, name: BlockName, body: string, path: string): string {
  const before = withoutBlock(text, name, path);
  const gap = before === '' ? '' : before.endsWith('\n') || name === 'sandbox' ? '\n' : '\n\n';
  const block = `${beginOf(name)}\n${body}${END}\n`;
  const after = name === 'sandbox' ? `${block}${gap}${before}` : `${before}${gap}${block}`;
  const own = parsedConfig(body, path);
  if (
    isDeepStrictEqual(
      plain(parsedConfig(after, path)),
      plain(merged(parsedConfig(before, path), own)),
    )
  )
    return after;
  throw new CliError(
    'bad_input',
    `${path} has hooks in a form that the hooks of Assize cannot follow. Write them as [[hooks.EVENT]], and repeat.`,
  );
}

/**
 * The text without a block. Lines that something else wrote into the block stay.
 *
 * @throws CliError `bad_input` if the block was changed in a way that cannot be taken back
 */
export function withoutBlock(text: string, name: BlockName, path: string): string {
  const begin = text.indexOf(beginOf(name));
  if (begin === -1) return text;
  const end = text.indexOf(END, begin);
  if (end === -1)
    throw new CliError(
      'bad_input',
      `${path} has no line ${END} after the one of Assize. Add it, and repeat.`,
    );
  const inside = text.slice(text.indexOf('\n', begin) + 1, end);
  const left = withoutOwn(inside).trim();
  const kept = left === '' ? '' : `${left}\n`;
  // The empty line before the block is of Assize, too.
  const head = text.slice(0, begin).replace(/(^|\n)\n$/, '$1');
  const tail = text.slice(end + END.length).replace(head === '' ? /^\n{1,2}/ : /^\n/, '');
  const after = `${head}${kept}${tail}`;
  parsedConfig(after, path);
  return after;
}

/** The text without the trust that Codex itself wrote for these hooks. */
export function withoutTrust(text: string, keys: readonly string[]): string {
  return keys.reduce((left, key) => {
    const header = `[hooks.state.${JSON.stringify(key)}]\n`;
    const at = left.indexOf(header);
    if (at === -1) return left;
    const next = left.slice(at + header.length).search(/^[[#]/m);
    return left.slice(0, at) + (next === -1 ? '' : left.slice(at + header.length + next));
  }, text);
}

const HOOK =
  /^\[\[hooks\.(\w+)\]\]\n\n\[\[hooks\.\1\.hooks\]\]\ntype = "command"\ncommand = ("(?:[^"\\\n]|\\.)*")\ntimeout = \d+\n/gm;
const SANDBOX =
  /^(?:default_permissions|permissions\.assize|features\.network_proxy|shell_environment_policy)\b.*\n/gm;
const TRUST = /^\[hooks\.state\."(?:[^"\\\n]|\\.)*"\]\ntrusted_hash = "[^"\n]*"\n/gm;

function withoutOwn(inside: string): string {
  return inside
    .replace(HOOK, (whole, _, command) => (isOwnCommand(JSON.parse(command)) ? '' : whole))
    .replace(TRUST, '')
    .replace(SANDBOX, '');
}

/** A table as lines of dotted names. They can stand before each table of a text. */
export function dottedText(table: Table, above: string = ''): string {
  return Object.entries(table)
    .map(([name, value]) => {
      const path = `${above}${/^[\w-]+$/.test(name) ? name : quoted(name)}`;
      if (isTable(value)) return dottedText(value, `${path}.`);
      return `${path} = ${quoted(value)}\n`;
    })
    .join('');
}

/** The tables of both, and the lists of both one after the other. */
function merged(one: Table, other: Table): Table {
  const all: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const there = all[name];
    if (Array.isArray(there) && Array.isArray(value)) all[name] = [...there, ...value];
    else all[name] = isTable(there) && isTable(value) ? merged(there, value) : value;
  }
  return all;
}

export function isTable(value: unknown): value is Table {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

function plain(table: Table): unknown {
  return JSON.parse(
    JSON.stringify(table, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  );
}
