import { readRules } from '@assize/gate/internal/gateway';
import { isMap, isSeq, parseDocument } from 'yaml';
import type { ListedTool } from './start.ts';

/** A server whose tools get proposed rules. */
export interface RuledServer {
  readonly server: string;
  readonly tools: readonly ListedTool[];
}

/**
 * The text of a rules file with first rules for servers. Each server is trusted by its name, tools
 * that only read by their own words are allowed, and the others ask. The text of a person stays.
 *
 * @throws the errors of `readRules`
 */
export function withRules(text: string, servers: readonly RuledServer[]): string {
  const after = servers.reduce(withServer, text);
  if (after !== text) readRules(after);
  return after;
}

function withServer(text: string, { server, tools }: RuledServer): string {
  const trusting = hasItem(text, 'trust', (item) => item === server) ? text : withItem(text, 'trust', quoted(server));
  const named = (isRead: boolean): readonly string[] =>
    tools.filter((tool) => tool.isRead === isRead).map(({ name }) => quoted(`${server}/${name}`));
  const id = ruleIdOf(server);
  const [reads, changes] = [named(true), named(false)];
  return [
    { id: `${id}-read`, verb: 'allow', names: reads },
    { id: `${id}-change`, verb: 'ask', names: changes },
  ].reduce(
    (rules, { id, verb, names }) =>
      names.length === 0 || hasItem(rules, 'rules', (item) => (item as { id?: unknown }).id === id)
        ? rules
        : withItem(rules, 'rules', `{ id: ${id}, ${verb}: [${names.join(', ')}] }`),
    trusting,
  );
}

function hasItem(text: string, member: string, fits: (item: unknown) => boolean): boolean {
  const value = (parseDocument(text).toJS() as Readonly<Record<string, unknown>> | null)?.[member];
  return (Array.isArray(value) ? value : [value]).some((item) => item !== undefined && item !== null && fits(item));
}

/** The text with one more item in the list of a member, in the style of that list. */
function withItem(text: string, member: string, item: string): string {
  const document = parseDocument(text);
  const list = document.get(member, true);
  const end = text.endsWith('\n') || text === '' ? '' : '\n';
  if (list === undefined || !isMap(document.contents)) return `${text}${end}${member}:\n  - ${item}\n`;
  const [start, valueEnd] = (list as { readonly range: readonly [number, number] }).range;
  if (!isSeq(list)) return `${text.slice(0, start)}[${text.slice(start, valueEnd)}, ${item}]${text.slice(valueEnd)}`;
  if (list.flow === true) {
    const close = text.lastIndexOf(']', valueEnd - 1);
    return `${text.slice(0, close).trimEnd()}${list.items.length === 0 ? '' : ', '}${item}${text.slice(close)}`;
  }
  const last = text.slice(0, valueEnd).trimEnd().length;
  const lineEnd = text.indexOf('\n', last);
  const at = lineEnd < 0 ? text.length : lineEnd;
  const [, indent = ''] = /(?:^|\n)([ \t]*)$/.exec(text.slice(0, start)) ?? [];
  return `${text.slice(0, at)}\n${indent}- ${item}${text.slice(at)}`;
}

/** Names in a list of YAML. Only some characters of the names need quotes there. */
function quoted(name: string): string {
  return /^[A-Za-z_][\w/@.-]*$/.test(name) ? name : `'${name}'`;
}

function ruleIdOf(server: string): string {
  return (
    server
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 50) || 'server'
  );
}
