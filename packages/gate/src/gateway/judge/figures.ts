import { matchesSome } from '../names.ts';
import type { Limit } from '../rules/rules.ts';
import type { CallRow } from '../schema.ts';

/** Lengths of the text of an instant that name its minute, hour and day in UTC. */
const WINDOW_LENGTH = { minute: 16, hour: 13, day: 10 } as const;

/** The window of an instant: `2026-03-01`, `2026-03-01T09` or `2026-03-01T09:30`. */
export function windowOf(per: Limit['per'], at: string): string {
  return at.slice(0, WINDOW_LENGTH[per]);
}

type Counted = Pick<CallRow, 'agent' | 'tool' | 'parts' | 'at' | 'amounts'>;

/** The group in which a limit counts a call: `window|agent|tool`, with `*` for all. */
export function groupOf({ per, each = [] }: Limit, { agent, tool, at }: Counted): string {
  return [
    windowOf(per, at),
    each.includes('agent') ? agent : '*',
    each.includes('tool') ? tool : '*',
  ].join('|');
}

/** The amount that a call adds to a limit. Undefined if the limit does not concern the call. */
export function amountOf(
  { tools, unit }: Limit,
  { tool, parts = [], amounts }: Counted,
): number | undefined {
  if (![tool, ...parts].some((name) => matchesSome(tools, name))) return undefined;
  if (unit === undefined) return 1;
  return Object.hasOwn(amounts, unit) ? amounts[unit] : undefined;
}

/** The key of a figure: `limit|window|agent|tool|call`. */
export function usedKey(limit: Limit, row: Counted, call: string): string {
  return `${limit.id}|${groupOf(limit, row)}|${call}`;
}

/** The limit and the group of a key. */
export function groupOfKey(key: string): string {
  return key.slice(0, key.lastIndexOf('|'));
}

/** The parts of `limit|window|agent|tool`. */
export function readGroup(text: string): {
  readonly limit: string;
  readonly group: string;
  readonly window: string;
} {
  const [limit = '', window = '', ...rest] = text.split('|');
  return { limit, group: [window, ...rest].join('|'), window };
}

/** The sum of one group of a limit over calls: the same as by `figuresOf`, in one walk. */
export function sumOf(limit: Limit, group: string, calls: readonly CallRow[]): number {
  const window = group.slice(0, WINDOW_LENGTH[limit.per]);
  let sum = 0;
  for (const call of calls)
    if (call.at.startsWith(window) && groupOf(limit, call) === group)
      sum += amountOf(limit, call) ?? 0;
  return sum;
}

/** The figures of all limits over the calls of a state, by key. */
export function figuresOf(
  limits: readonly Limit[],
  calls: Readonly<Record<string, CallRow>>,
): Map<string, number> {
  const figures = new Map<string, number>();
  for (const [id, row] of Object.entries(calls)) {
    for (const limit of limits) {
      const amount = amountOf(limit, row);
      if (amount !== undefined) figures.set(usedKey(limit, row, id), amount);
    }
  }
  return figures;
}

/** The sums of figures, by limit and group. */
export function sumsOf(figures: Iterable<readonly [string, number]>): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [key, amount] of figures) {
    const group = groupOfKey(key);
    sums.set(group, (sums.get(group) ?? 0) + amount);
  }
  return sums;
}
