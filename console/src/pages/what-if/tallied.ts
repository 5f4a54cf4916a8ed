import type { components } from '../../api/openapi.d.ts';

export type VerdictDifference = components['schemas']['VerdictDifference'];
export type ShownRuling = components['schemas']['ShownRuling'];

/** Differences of one action with the same rulings, recorded and new. */
export interface Tally {
  /** `pay:committed:escalated`: the name of the tally in the address of the page. */
  readonly key: string;
  readonly action: string;
  readonly recorded: ShownRuling['ruling'];
  readonly now: ShownRuling['ruling'];
  readonly count: number;
}

/** The counts of differences, the largest first. */
export function tallied(differences: readonly VerdictDifference[]): readonly Tally[] {
  const tallies = new Map<string, Tally>();
  for (const difference of differences) {
    const { action, recorded, now } = difference;
    const key = tallyKeyOf(difference);
    const count = (tallies.get(key)?.count ?? 0) + 1;
    tallies.set(key, { key, action, recorded: recorded.ruling, now: now.ruling, count });
  }
  return [...tallies.values()].sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
}

export function tallyKeyOf({ action, recorded, now }: VerdictDifference): string {
  return `${action}:${recorded.ruling}:${now.ruling}`;
}
