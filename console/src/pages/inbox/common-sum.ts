import { type Amount, amountText, type Shown } from 'assize/internal/views/shown.ts';
import type { Card } from '../../api/queries.ts';

/**
 * The sum of the only amount of each proposal, by currency: `€40.00 and $2.00`. Undefined for fewer
 * than two proposals, and if one of them has several amounts or none.
 */
export function commonSum(cards: readonly Card[]): string | undefined {
  if (cards.length < 2) return undefined;
  const sums = new Map<string, number>();
  for (const card of cards) {
    const amount = onlyAmountIn(card);
    if (amount === undefined) return undefined;
    sums.set(amount.currency, (sums.get(amount.currency) ?? 0) + amount.minor);
  }
  if (![...sums.values()].every(Number.isSafeInteger)) return undefined;
  const texts = [...sums].sort().map(([currency, minor]) => amountText({ currency, minor }));
  return texts.join(' and ');
}

/** The amount of a proposal that has one. */
export function onlyAmountIn({ fields }: Card): Amount | undefined {
  const [only, ...more] = fields.flatMap(({ amount }) => amount ?? []);
  return more.length === 0 ? only : undefined;
}

/** The first amount of a proposal, and the number of its others: `€40.00 +1`. Empty for none. */
export function amountsOf({ fields }: Pick<Shown, 'fields'>): string {
  const [first, ...more] = fields.flatMap(({ amount, text }) => (amount ? text : []));
  return first === undefined ? '' : `${first}${more.length === 0 ? '' : ` +${more.length}`}`;
}

/** The title of a row, without the amount that has a column of its own. */
export function columnsOf(card: Pick<Card, 'title' | 'fields'>) {
  const amounts = amountsOf(card);
  const { title } = card;
  const isLast = amounts !== '' && title.endsWith(` ${amounts}`);
  return { amounts, words: isLast ? title.slice(0, -amounts.length - 1) : title };
}

/** The largest first, by currency; those without one amount are last. */
export function byAmount(one: Card, other: Card): number {
  const [a, b] = [onlyAmountIn(one), onlyAmountIn(other)];
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a.currency.localeCompare(b.currency) || b.minor - a.minor;
}
