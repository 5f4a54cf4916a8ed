/**
 * The shop's policy as invariants; the first that does not pass decides. What an action is for comes before what it does
 * with items and money, and what the records owe the rows comes last. Nothing here asks a person: the policy leaves no
 * judgement of a record to one. domains/retail/README.md says for every sentence of the policy where it is enforced.
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
