import { type Document, isMap, isSeq, parseDocument } from 'yaml';
import { readRules } from '#domains/gateway';
import type { ListedTool } from './start.ts';

/** A server with its tools, for which rules are proposed. */
export interface RuledServer {
  readonly server: string;
  readonly tools: readonly ListedTool[];
}

/**
 * The text of a rules file with first rules for servers: each is trusted by its name, tools that only
 * read by their own words are allowed, and the others ask. Rules that a person has written stay.
 *
 * @throws the errors of `readRules`
 */
export function withRules(text: string, servers: readonly RuledServer[]): string {
  const document = parseDocument(text);
  for (const { server, tools } of servers) {
    add(document, 'trust', server);
    const id = ruleIdOf(server);
    const named = (isRead: boolean): string[] =>
      tools.filter((tool) => tool.isRead === isRead).map(({ name }) => `${server}/${name}`);
    const rules = [
      { id: `${id}-read`, allow: named(true) },
      { id: `${id}-change`, ask: named(false) },
    ].filter(({ allow, ask }) => (allow ?? ask ?? []).length > 0);
    for (const rule of rules) if (!hasRule(document, rule.id)) add(document, 'rules', rule);
  }
  const after = document.toString({ lineWidth: 0 });
  readRules(after);
  return after;
}

function add(document: Document, member: string, value: unknown): void {
  const list = document.get(member);
  if (!isSeq(list)) {
    const before = list === undefined ? [] : [list];
    document.set(member, document.createNode([...before, value]));
    return;
  }
  if (!list.items.some((one) => String(one) === value)) list.add(document.createNode(value));
}

function hasRule(document: Document, id: string): boolean {
  const rules = document.get('rules');
  return isSeq(rules) && rules.items.some((one) => isMap(one) && one.get('id') === id);
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
