import { type Amount, amountText } from 'assize/internal/views/shown.ts';
import type { Approval } from '../../api/queries.ts';
import { namedAction } from './gated-call-of.ts';

/** The common number of several proposals. */
export interface CommonSum {
  /** `€40.00 and $2.00`, or `cents: 300`. */
  readonly text: string;
  /** The number of one of them, and the currency of an amount. */
  readonly of: (approval: Approval) => { readonly number: number; readonly currency: string };
}

/**
 * The sum of the only amount of each proposal, by currency. Without an amount: of the only whole
 * number among the arguments. Undefined for fewer than two proposals, for different actions, and if
 * one proposal has another such number, several, or none.
 */
export function commonSum(approvals: readonly Approval[]): CommonSum | undefined {
  const names = new Set(approvals.map(({ action }) => namedAction(action).name));
  if (approvals.length < 2 || names.size > 1) return undefined;
  const isMoney = approvals.some(({ shown }) => shown.fields.some(({ amount }) => amount));
  return isMoney ? moneyOf(approvals) : numbersOf(approvals);
}

function moneyOf(approvals: readonly Approval[]): CommonSum | undefined {
  const sums = new Map<string, number>();
  for (const approval of approvals) {
    const amount = onlyAmountIn(approval);
    if (amount === undefined) return undefined;
    const { currency, minor } = amount;
    sums.set(currency, (sums.get(currency) ?? 0) + minor);
  }
  if (![...sums.values()].every(Number.isSafeInteger)) return undefined;
  const texts = [...sums].sort().map(([currency, minor]) => amountText({ currency, minor }));
  return {
    text: texts.join(' and '),
    of: (approval) => {
      const { minor, currency } = onlyAmountIn(approval) as Amount;
      return { number: minor, currency };
    },
  };
}

function onlyAmountIn({ shown }: Approval): Amount | undefined {
  const [only, ...more] = shown.fields.flatMap(({ amount }) => amount ?? []);
  return more.length === 0 ? only : undefined;
}

function numbersOf(approvals: readonly Approval[]): CommonSum | undefined {
  const numbers = approvals.map(({ action }) => onlyNumberIn(namedAction(action).args));
  const argument = numbers[0]?.[0];
  if (argument === undefined || numbers.some((one) => one?.[0] !== argument)) return undefined;
  const sum = numbers.reduce((total, one) => total + (one?.[1] ?? 0), 0);
  if (!Number.isSafeInteger(sum)) return undefined;
  return {
    text: `${argument}: ${sum}`,
    of: ({ action }) => ({
      number: onlyNumberIn(namedAction(action).args)?.[1] ?? 0,
      currency: '',
    }),
  };
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
