import { suite } from './suites.ts';

const USUAL = 2_000;
/** Cases of the largest property, by suite. */
const OF_SUITE = { fast: 100, slow: 100, long: 100, all: USUAL };

/**
 * Number of cases that a property is tried on: its usual number, or in proportion to
 * `ASSIZE_CASES`. That variable sets the number of the largest property: 2,000 in
 * `npm run test:all`, 100 in the other suites.
 */
export function cases(usual: number): number {
  const wanted = Number(process.env['ASSIZE_CASES'] ?? OF_SUITE[suite()]);
  if (!Number.isSafeInteger(wanted) || wanted < 1)
    throw new Error('ASSIZE_CASES must be a whole number from 1');
  return Math.max(1, Math.ceil((usual * wanted) / USUAL));
}

/**
 * Whether properties have at least their usual number of cases. Only then does a property check
 * that it has met every kind of case.
 */
export function hasUsualCases(): boolean {
  return cases(USUAL) >= USUAL;
}
