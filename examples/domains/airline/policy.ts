/**
 * The airline's policy as invariants, in the order of policy.md. The first invariant that does not
 * pass decides. Human decisions are last, so a proposal that is refused anyway needs none.
 * examples/domains/airline/README.md states for every sentence of the policy where it is enforced.
 */
import type { Invariant, Rules } from 'assize/internal/kernel';
import { agreement } from './policy/agreement.ts';
import { baggage } from './policy/baggage.ts';
import { booking } from './policy/booking.ts';
import { cancellation, insuredCancellation } from './policy/cancellation.ts';
import { modification } from './policy/modification.ts';
import { certificateFacts, refund } from './policy/refund.ts';
import type { AirlineState } from './schema.ts';

export function policy(rules: Rules<AirlineState>): readonly Invariant<AirlineState>[] {
  return [
    ...booking(rules),
    ...baggage(rules),
    ...modification(rules),
    ...cancellation(rules),
    ...refund(rules),
    ...agreement(rules),
    insuredCancellation(rules),
    certificateFacts(rules),
  ];
}
