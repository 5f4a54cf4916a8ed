import type { Card } from '../../api/queries.ts';
import { byAmount } from './common-sum.ts';

/** Proposals that stand together under one heading. */
export interface CardGroup {
  readonly key: string;
  readonly cards: readonly Card[];
}

/** The rule and the action, the agent, the rule, or the label of a field such as the payee. */
export type Grouping = 'like' | 'agent' | 'rule' | { readonly field: string };

export const ORDERS = {
  oldest: 'Oldest first',
  newest: 'Newest first',
  amount: 'Largest amount',
  ends: 'Ends soonest',
} as const;
export type Order = keyof typeof ORDERS;

/** Groups proposals by what they have in common, in the order of the first of each. */
export function groupCards(cards: readonly Card[], by: Grouping): CardGroup[] {
  const groups = new Map<string, Card[]>();
  for (const card of cards) {
    const key = keyOf(card, by);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [card]);
    else group.push(card);
  }
  return [...groups].map(([key, members]) => ({ key, cards: members }));
}

function keyOf(
  { trajectory_id, action, channel, rule = '', requester, fields }: Card,
  by: Grouping,
) {
  if (by === 'agent') return requester;
  if (by === 'rule') return rule;
  if (by === 'like') return JSON.stringify([trajectory_id, action, channel, rule]);
  return fields.find(({ label }) => label === by.field)?.text ?? '';
}

/** The labels of fields that at least two proposals have, without amounts. */
export function commonLabels(cards: readonly Card[]): string[] {
  const counts = new Map<string, number>();
  for (const { fields } of cards)
    for (const label of new Set(fields.flatMap((one) => (one.amount ? [] : one.label))))
      counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].flatMap(([label, count]) => (count > 1 ? label : [])).sort();
}

/** The proposals that have each word of a text somewhere in what a row shows. */
export function searched(cards: readonly Card[], text: string): readonly Card[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return cards;
  return cards.filter((card) => {
    const { title, detail, requester, trajectory_id, rule = '', id, fields } = card;
    const texts = [title, detail, requester, trajectory_id, rule, ...fields.map((one) => one.text)];
    const all = texts.join('\n').toLowerCase();
    return words.every((word) => all.includes(word) || (word.length > 7 && id.startsWith(word)));
  });
}

export function ordered(cards: readonly Card[], order: Order): readonly Card[] {
  const time = ({ at }: Card) => Date.parse(at);
  const end = ({ expires }: Card) => (expires === undefined ? Infinity : Date.parse(expires));
  switch (order) {
    case 'oldest':
      return cards.toSorted((a, b) => time(a) - time(b));
    case 'newest':
      return cards.toSorted((a, b) => time(b) - time(a));
    case 'amount':
      return cards.toSorted(byAmount);
    case 'ends':
      return cards.toSorted((a, b) => (end(a) < end(b) ? -1 : Number(end(a) > end(b))));
  }
}

/** How the list is searched, grouped and sorted. Its texts are those of the address. */
export interface Arranged {
  readonly text: string;
  readonly group: string;
  readonly order: string;
}

/** Before the label of a field by which the list is grouped. */
export const FIELD = 'field:';

export function groupingOf(group: string): Grouping {
  if (group.startsWith(FIELD)) return { field: group.slice(FIELD.length) };
  return group === 'agent' || group === 'rule' ? group : 'like';
}

export function orderOf(order: string): Order {
  return Object.hasOwn(ORDERS, order) ? (order as Order) : 'oldest';
}
