import { AuthorityError } from './errors.ts';

/** Whole numbers by unit, such as `{calls: 3, usd_micros: 1200}`. An absent unit counts 0. */
export type Amounts = { readonly [unit: string]: number };

/** Whether the value is a valid amount: a safe integer, not negative. */
export function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * The units and amounts of a cost that are not zero.
 *
 * @throws AuthorityError `bad_argument`
 */
export function costItems(cost: Amounts): (readonly [unit: string, amount: number])[] {
  if (typeof cost !== 'object' || cost === null)
    throw new AuthorityError(
      'bad_argument',
      'The amounts must be an object of whole numbers by unit.',
    );
  const items: (readonly [string, number])[] = [];
  for (const unit of Object.keys(cost)) {
    const amount = cost[unit];
    if (!isAmount(amount)) {
      throw new AuthorityError(
        'bad_argument',
        `The amount of ${unit} must be a whole number from 0 to 2^53-1.`,
        {
          evidence: { unit, amount },
        },
      );
    }
    if (amount > 0) items.push([unit, amount]);
  }
  return items;
}
