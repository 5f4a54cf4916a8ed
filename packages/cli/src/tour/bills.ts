/** The domain of the world `bills`, with its rules file. */

import { type GatewayState, gateway, readRules } from '@assize/gate/internal/gateway';
import type { Domain } from 'assize/internal/kernel';

/** A person approves bills from here on, in cents. */
export const ASKED_FROM = 10_000;

const { rules, presented } = readRules(`
id: bills
default: allow
tools:
  accounts/get: { class: read, reads: [/account] }
  bank/pay:
    class: irreversible
    writes: [/account]
    amounts: { cents: /cents }
    present: { title: "Pay {account} {cents}", fields: { cents: { label: Amount, money: EUR } } }
rules:
  - { id: large, ask: bank/pay, amount: { unit: cents, min: ${ASKED_FROM} } }
standing: { uses: 10, hours: 24, amounts: { cents: 100000 } }
`);

export const bills: Domain<GatewayState> = gateway({ rules, presented });
