import { type ArgumentSchema, arg, checkArgument } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import { isMap, isSeq, parseDocument, type YAMLSeq } from 'yaml';
import { flowText, readRules } from '#gateway';
import type { GatewayRule } from './gateway-rule.ts';

/** The form of written rules, for argument checks. */
export const WRITTEN: ArgumentSchema = arg.list(
  arg.members({
    list: arg.oneOf(['rules', 'limits', 'read_before_write']),
    value: arg.all(arg.members({ id: arg.text }), arg.of('JSON', isJson)),
  }),
);

function isJson(value: unknown): boolean {
  try {
    canonicalize(value);
    return true;
  } catch {
    return false;
  }
}

/** A rule as one line of its list. */
export function ruleLine({ value }: Pick<GatewayRule, 'value'>): string {
  return `- ${flowText(value)}`;
}

/**
 * Rules as a text to paste into a file, each list under its name.
 *
 * @throws ArgumentError `bad_argument`
 */
export function rulesText(rules: readonly GatewayRule[]): string {
  checkArgument(WRITTEN, rules, 'rules');
  const lists = [...new Set(rules.map(({ list }) => list))];
  return lists
    .map(
      (list) =>
        `${list}:\n${rules
          .filter((rule) => rule.list === list)
          .map((rule) => `  ${ruleLine(rule)}\n`)
          .join('')}`,
    )
    .join('');
}

/**
 * The text of a rules file with more rules at the end of their lists. Every other line stays as it
 * is, with its comments; a list in brackets is written as one line each.
 *
 * @throws GatewayError `bad_rules` for a file that is not valid, before or after; ArgumentError
 *   `bad_argument`
 */
export function withRules(
  text: string,
  rules: readonly GatewayRule[],
  file: string = 'assize.yaml',
): string {
  checkArgument(WRITTEN, rules, 'rules');
  readRules(text, file);
  const added = rules.reduce((before, rule) => withRule(before, rule), text);
  readRules(added, file);
  return added;
}

function withRule(text: string, rule: GatewayRule): string {
  const doc = parseDocument(text);
  const list = isMap(doc.contents) ? doc.contents.get(rule.list, true) : undefined;
  if (!isSeq(list) || list.items.length === 0) {
    // An empty list has no line to continue, so the list is written again at the end.
    const without = isSeq(list) && doc.delete(rule.list) ? doc.toString({ lineWidth: 0 }) : text;
    return `${withEnd(without)}${rulesText([rule])}`;
  }
  if (list.flow === true) {
    list.flow = false;
    return withRule(doc.toString({ lineWidth: 0 }), rule);
  }
  const [start, , end] = list.range as [number, number, number];
  const indent = ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1));
  const before = lastLineOf(text, list) ?? end;
  return `${withEnd(text.slice(0, before))}${indent}${ruleLine(rule)}\n${text.slice(before)}`;
}

/** The end of the line on which the last item ends. */
function lastLineOf(text: string, { items }: YAMLSeq): number | undefined {
  const range = (items.at(-1) as { readonly range?: readonly number[] }).range;
  const valueEnd = range?.[1];
  if (valueEnd === undefined) return undefined;
  // The value of a block ends after its line, and any other one on it.
  if (text[valueEnd - 1] === '\n') return valueEnd;
  const end = text.indexOf('\n', valueEnd);
  return end === -1 ? text.length : end + 1;
}

function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
