import type { Approval } from '../../api/queries.ts';
import { namedAction } from './gated-call-of.ts';

/** The sum of one argument over several proposals. */
export interface CommonSum {
  readonly argument: string;
  readonly sum: number;
}

/**
 * The sum of the only whole number among the arguments. Undefined for fewer than two proposals, for
 * different actions, and if one proposal has another such number, several, or none.
 */
export function commonSum(approvals: readonly Approval[]): CommonSum | undefined {
  const given = approvals.map(({ action }) => namedAction(action));
  const [first, ...others] = given;
  if (first === undefined || others.length === 0 || others.some(({ name }) => name !== first.name))
    return undefined;
  const numbers = given.map(({ args }) => onlyNumberIn(args));
  const argument = numbers[0]?.[0];
  if (argument === undefined || numbers.some((one) => one?.[0] !== argument)) return undefined;
  const sum = numbers.reduce((total, one) => total + (one?.[1] ?? 0), 0);
  return Number.isSafeInteger(sum) ? { argument, sum } : undefined;
}

/** The member of the arguments that is a whole number, if there is one such member. */
function onlyNumberIn(args: unknown): readonly [string, number] | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const numbers = Object.entries(args).filter(([, value]) => typeof value === 'number');
  const [only] = numbers;
  return only !== undefined && numbers.length === 1 && Number.isSafeInteger(only[1])
    ? only
    : undefined;
}
