import { isInstance } from 'assize/internal/base';
import { parse, stringify, TomlError } from 'smol-toml';
import type { EntryChange, EntryFormat, Members, ServerEntry } from './entries.ts';
import { commentsOf, type Statement, statementsOf } from './toml-statements.ts';

/** The configuration of Codex: a table `[mcp_servers.NAME]` for each server. */
export const tomlFormat: EntryFormat = { entries, changed, valueOf: parsed, comments: commentsOf };

const SERVERS = 'mcp_servers';

function entries(text: string): readonly ServerEntry[] {
  const servers = parsed(text)[SERVERS];
  if (typeof servers !== 'object' || servers === null) return [];
  const statements = statementsOf(text);
  return Object.entries(servers).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? [{ at: [SERVERS, name], name, value: value as Members, ...placeOf(statements, name) }]
      : [],
  );
}

/** The pairs of the table itself. Those of its own tables, such as its `env`, stay as they are. */
function placeOf(statements: readonly Statement[], name: string): Pick<ServerEntry, 'start' | 'end' | 'fault'> {
  const head = statements.findIndex(
    ({ kind, path }) => kind === 'table' && path.length === 2 && path[0] === SERVERS && path[1] === name,
  );
  const after = head < 0 ? [] : statements.slice(head + 1);
  const count = after.findIndex(({ kind }) => kind !== 'pair');
  const pairs = count < 0 ? after : after.slice(0, count);
  const [first, last] = [pairs[0], pairs.at(-1)];
  if (first === undefined || last === undefined)
    return { start: 0, end: 0, fault: `it has no table [${SERVERS}.${name}] with its command` };
  return { start: first.start, end: last.end };
}

/**
 * New members come first: a comment behind a member stays with it. A last member that goes is
 * replaced by a new one, so the entry ends where it ended.
 */
function changed(entryText: string, { set, remove }: EntryChange, lineEnd: string): string {
  const last = statementsOf(entryText).at(-1);
  const isLastRemoved = last !== undefined && last.path.length === 1 && remove.includes(last.path[0] as string);
  const [first] = Object.keys(set).filter((name) => memberOf(entryText, name) === undefined);
  const start =
    isLastRemoved && first !== undefined
      ? `${entryText.slice(0, last.start)}${first} = ${valueText(set[first])}${entryText.slice(last.end)}`
      : entryText;
  const added = Object.entries(set)
    .reverse()
    .reduce((text, [name, value]) => withMember(text, { name, value: valueText(value), lineEnd }), start);
  return remove.reduce(without, added);
}

function withMember(
  text: string,
  { name, value, lineEnd }: { readonly name: string; readonly value: string; readonly lineEnd: string },
): string {
  const found = memberOf(text, name);
  if (found !== undefined) return text.slice(0, found.valueStart) + value + text.slice(found.end);
  return `${name} = ${value}${lineEnd}${text}`;
}

function without(text: string, name: string): string {
  const found = memberOf(text, name);
  if (found === undefined) return text;
  const after = text.slice(found.end);
  const [lineEnd = ''] = /^[ \t]*\r?\n/.exec(after) ?? [];
  return text.slice(0, found.start) + after.slice(lineEnd.length);
}

function memberOf(text: string, name: string): Statement | undefined {
  return statementsOf(text).find(({ path }) => path.length === 1 && path[0] === name);
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${stringText(name)} = ${valueText(member)}`);
    return `{ ${members.join(', ')} }`;
  }
  return stringText(value);
}

function stringText(value: unknown): string {
  return stringify({ value })
    .trim()
    .replace(/^value = /, '');
}

function parsed(text: string): Members {
  try {
    return parse(text) as Members;
  } catch (error) {
    if (isInstance(error, TomlError)) throw new SyntaxError(error.message.split('\n')[0]);
    throw error;
  }
}
