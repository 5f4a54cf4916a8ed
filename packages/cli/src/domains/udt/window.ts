import { addDays, type Day, daysBetween } from './days.ts';
import type { Claim, Coverage, Tier, UdtTest } from './schema.ts';

/** The days that a tier counts, with the covered claims for definitive tests in them. */
export interface Window {
  readonly tier: Tier;
  readonly allowed: Coverage;
  readonly from: Day;
  readonly to: Day;
  readonly covered: readonly (readonly [id: string, claim: Claim])[];
}

/**
 * The windows that a definitive test of that day is in, as known in event `n`: the one that ends on
 * the day, first, and those of claims for that day or a later one. So the order of claims changes
 * nothing: a claim for an earlier day also fills the windows of later ones.
 */
export function windowsOf(
  { date, tier, n }: Pick<Claim, 'date' | 'tier' | 'n'>,
  coverage: Readonly<Record<Tier, Coverage>>,
  claims: Readonly<Record<string, Claim>>,
  tests: Readonly<Record<string, UdtTest>>,
): readonly [own: Window, ...later: Window[]] {
  const known = Object.entries(claims).filter(
    ([, claim]) => tests[claim.test]?.type === 'definitive' && claim.n <= n,
  );
  const windowOf = ({ date: to, tier }: Pick<Claim, 'date' | 'tier'>): Window => {
    const allowed = coverage[tier];
    const covered = known.filter(([, claim]) => isWithin(claim.date, to, allowed.days));
    return { tier, allowed, from: addDays(to, 1 - allowed.days), to, covered };
  };
  const later = known.filter(
    ([, claim]) =>
      claim.date >= date &&
      !(claim.date === date && claim.tier === tier) &&
      isWithin(date, claim.date, coverage[claim.tier].days),
  );
  return [windowOf({ date, tier }), ...later.map(([, claim]) => windowOf(claim))];
}

/** Whether a day is one of so many that end on another. */
function isWithin(day: Day, end: Day, days: number): boolean {
  const ago = daysBetween(day, end);
  return ago >= 0 && ago < days;
}
