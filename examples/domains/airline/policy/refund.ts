/**
 * policy.md, Refund: certificates as a gesture. Each rule adds a requirement on the incidents that
 * pass the rules before it.
 */
import { escalate, type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import { amountDue, entitling, isEligible, isGround } from '../compensation.ts';
import type { AirlineState } from '../schema.ts';
import { SUPERVISOR } from './supervisor.ts';

export function refund({ each }: Rules<AirlineState>): Invariant<AirlineState>[] {
  return [
    each('CERTIFICATE_GROUND', '/certificates/*/*', {}, ({ incidents }, _, [user]) =>
      incidents.length > 0
        ? pass
        : reject(`no reservation of ${user} has a cancelled or delayed flight`),
    ),

    each('CERTIFICATE_AFTER_CHANGE', '/certificates/*/*', {}, ({ incidents }) =>
      incidents.some(isGround)
        ? pass
        : reject(
            'a delay is compensated only after the reservation has been changed or cancelled over it',
          ),
    ),

    each('CERTIFICATE_ELIGIBLE', '/certificates/*/*', {}, ({ incidents }) =>
      incidents.filter(isGround).some(isEligible)
        ? pass
        : reject('regular member without insurance in (basic) economy; no compensation'),
    ),

    each('CERTIFICATE_AMOUNT', '/certificates/*/*', {}, ({ amount, incidents }) => {
      const due = new Set(incidents.filter(isGround).filter(isEligible).map(amountDue));
      return due.has(amount)
        ? pass
        : reject(`${amount} dollars; due would be ${[...due].join(' or ')}`);
    }),

    each('CERTIFICATE_ONCE', '/certificates/*/*', {}, ({ amount, incidents }) =>
      entitling(incidents, amount) !== undefined
        ? pass
        : reject('a certificate has been sent for this already'),
    ),
  ];
}

/** Whether the user complained, asked for it, and the facts were confirmed stands in no record. */
export function certificateFacts({ each }: Rules<AirlineState>): Invariant<AirlineState> {
  return each(
    'CERTIFICATE_FACTS',
    '/certificates/*/*',
    {
      channel: SUPERVISOR,
      onApprove: (state, { counselor, at, keys: [user = '', index] }) => {
        const row = state.certificates[user]?.[Number(index)];
        if (row !== undefined) Object.assign(row, { approved_by: counselor, approved_at: at });
      },
    },
    ({ approved_by, amount, ground, reservation_id }) =>
      approved_by !== undefined
        ? pass
        : escalate(
            `${amount} dollars for the ${ground} flights of ${reservation_id}: did the user complain and ask for it?`,
          ),
  );
}
