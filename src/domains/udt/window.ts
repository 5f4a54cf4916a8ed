import { daysBetween } from './days.ts';
import type { Claim, UdtTest } from './schema.ts';

/** A day of a coverage question, and the last event with claims that count. */
export type CoverageRequest = Pick<Claim, 'date' | 'n'>;

/** The covered claims for definitive tests in the window that ends on the given day, by id. */
export function coveredInWindow(
  asked: CoverageRequest,
  days: number,
  claims: Readonly<Record<string, Claim>>,
  tests: Readonly<Record<string, UdtTest>>,
): readonly (readonly [id: string, claim: Claim])[] {
  return Object.entries(claims).filter(
    ([, claim]) => tests[claim.test]?.type === 'definitive' && isInWindow(claim, asked, days),
  );
}

/** Whether a claim counts: it was made before, or is the claim in question. */
function isInWindow(claim: Claim, asked: CoverageRequest, days: number): boolean {
  const ago = daysBetween(claim.date, asked.date);
  return ago >= 0 && ago < days && claim.n <= asked.n;
}
