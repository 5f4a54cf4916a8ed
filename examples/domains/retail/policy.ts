/**
 * The shop's policy as invariants; the first invariant that does not pass decides. The order is:
 * the purpose of an action, its items and money, and the agreement of records with rows. No rule
 * escalates: the policy requires no human decision on a record. The README states for every
 * sentence of the policy where it is enforced.
 */
import type { Invariant, Rules } from 'assize/internal/kernel';
import { agreement } from './policy/agreement.ts';
import { items } from './policy/items.ts';
import { payment } from './policy/payment.ts';
import { statuses } from './policy/status.ts';
import type { RetailState } from './schema.ts';

export function policy(rules: Rules<RetailState>): readonly Invariant<RetailState>[] {
  return [...statuses(rules), ...items(rules), ...payment(rules), ...agreement(rules)];
}
