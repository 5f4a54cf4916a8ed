import type { Card } from '../../api/queries.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { commonSum } from './common-sum.ts';

/** `, €3.00 in all` after a count of proposals with one amount each. */
export function SumText({ cards }: { readonly cards: readonly Card[] }) {
  const found = commonSum(cards);
  return found === undefined ? null : <Inert>{`, ${found} in all`}</Inert>;
}
