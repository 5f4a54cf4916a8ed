import {
  applyEdits,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
  visit,
} from 'jsonc-parser';
import type { EntryChange, EntryFormat, Members, ServerEntry } from './entries.ts';

/** Files in JSON, with comments and trailing commas where the client allows them. */
export const jsonFormat: EntryFormat = { entries, changed, valueOf: (text) => parse(text) as Members, comments };

const RULES = { allowTrailingComma: true, allowEmptyContent: true };

function entries(text: string): readonly ServerEntry[] {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, RULES);
  const [error] = errors;
  if (error !== undefined) throw new SyntaxError(`${printParseErrorCode(error.error)} at character ${error.offset}`);
  if (root === undefined) return [];
  const projects = members(root, 'projects').flatMap(({ children = [] }) =>
    children.map((property) => ['projects', String(property.children?.[0]?.value), 'mcpServers']),
  );
  return [['mcpServers'], ['servers'], ...projects].flatMap((at) => {
    const found = at.reduce<readonly Node[]>((nodes, name) => nodes.flatMap((node) => members(node, name)), [root]);
    const [container] = found;
    if (container?.type !== 'object') return [];
    return (container.children ?? []).flatMap((property) =>
      entryOf(text, { property, container, at, count: found.length }),
    );
  });
}

interface Found {
  readonly property: Node;
  readonly container: Node;
  readonly at: readonly string[];
  /** How often the members of the place occur. */
  readonly count: number;
}

function entryOf(text: string, { property, container, at, count }: Found): ServerEntry[] {
  const [key, node] = property.children ?? [];
  if (key === undefined || node?.type !== 'object') return [];
  const name = String(key.value);
  const names = (node.children ?? []).map(({ children }) => String(children?.[0]?.value));
  const isTwice = count > 1 || members(container, name).length > 1 || new Set(names).size < names.length;
  const [start, end] = [node.offset, node.offset + node.length];
  return [
    {
      ...{ at: [...at, name], name, start, end, value: parse(text.slice(start, end)) as Members },
      ...(isTwice && { fault: 'a member occurs twice' }),
    },
  ];
}

/** The values of a member: more than one if its name occurs twice. */
function members(node: Node, name: string): readonly Node[] {
  if (node.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children = [] }) =>
    children[0]?.value === name && children[1] !== undefined ? [children[1]] : [],
  );
}

function changed(entryText: string, { set, remove }: EntryChange, eol: string): string {
  const isOneLine = !/[\r\n]/.test(entryText);
  const options = isOneLine ? {} : { formattingOptions: layoutOf(entryText, eol) };
  const all = [...remove.map((name) => [name, undefined] as const), ...Object.entries(set)];
  return all.reduce((text, [name, value]) => applyEdits(text, modify(text, [name], value, options)), entryText);
}

function comments(entryText: string): readonly string[] {
  const found: string[] = [];
  visit(entryText, { onComment: (start, length) => found.push(entryText.slice(start, start + length)) });
  return found;
}

/** The layout of the entry, by its first member. */
function layoutOf(entryText: string, eol: string): { eol: string; insertSpaces: boolean; tabSize: number } {
  const [, inner = ''] = /\n([ \t]+)\S/.exec(entryText) ?? [];
  const [, outer = ''] = /\n([ \t]*)\}$/.exec(entryText) ?? [];
  return {
    eol,
    insertSpaces: !inner.includes('\t'),
    tabSize: Math.max(1, inner.length - outer.length),
  };
}
