import { daysBetween } from './days.ts';
import type { Claim, UdtTest } from './schema.ts';

/** A day on which coverage is asked for, and the event up to which claims count. */
export type Asked = Pick<Claim, 'date' | 'n'>;

/** The claims for definitive tests that are covered in the days that end on the one asked about, by id. */
export function coveredInWindow(
  asked: Asked,
  days: number,
  claims: Readonly<Record<string, Claim>>,
  tests: Readonly<Record<string, UdtTest>>,
): readonly (readonly [id: string, claim: Claim])[] {
  return Object.entries(claims).filter(
    ([, claim]) => tests[claim.test]?.type === 'definitive' && isInWindow(claim, asked, days),
  );
}

/** Whether a claim counts: made before, or itself the one that is asked about. */
function isInWindow(claim: Claim, asked: Asked, days: number): boolean {
  const ago = daysBetween(claim.date, asked.date);
  return ago >= 0 && ago < days && claim.n <= asked.n;
}
