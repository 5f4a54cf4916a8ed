/** The world `bills`: the calls of an agent that pays suppliers behind a rules file. */

import { gateway, readRules } from '@assize/gate/internal/gateway';
import type { Writ } from 'assize/internal/authority';
import { addMicros, type Instant } from 'assize/internal/canon';
import type { RootKey } from 'assize/internal/config';
import { Assize, type Ruling, type Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { BILLS_WORLD, PEOPLE } from './tour-config.ts';
import { openOrCreate, roleWrit } from './worlds.ts';

/** A bill that the agent paid. */
interface Bill {
  readonly id: string;
  readonly at: Instant;
  readonly supplier: string;
  readonly cents: number;
  /** Whether the agent looked the supplier up before it paid. */
  readonly isLookedUp: boolean;
}

const START: Instant = '2026-05-04T08:00:00.000000Z';
const DAY_MICROS = 86_400_000_000;
const DAYS = 24;
const SUPPLIERS = ['city-water', 'clean-desk', 'north-power', 'paper-mill'] as const;

/** The bill of a supplier that the list of the office does not have. */
const UNKNOWN = { day: 19, supplier: 'acme-gold', cents: 4_900 } as const;

/** A bill a day. Their order and amounts look random, and are the same in every tour. */
const BILLS: readonly Bill[] = Array.from({ length: DAYS }, (_, day) => {
  const isUnknown = day === UNKNOWN.day;
  const number = (day * 48_271 + 11_399) % 9_973;
  const supplier = SUPPLIERS[number % SUPPLIERS.length] as string;
  return {
    ...{
      id: `bill-${day + 1}`,
      at: addMicros(START, day * DAY_MICROS),
      supplier,
      cents: 1_000 + number * 2,
    },
    ...(isUnknown && { supplier: UNKNOWN.supplier, cents: UNKNOWN.cents }),
    isLookedUp: !isUnknown,
  };
});

const AGENT = PEOPLE.agent.slice('agent:'.length);
const SECOND_MICROS = 1_000_000;

const { rules } = readRules(`
id: bills
default: allow
tools:
  accounts/get: { class: read, reads: [/account] }
  bank/pay: { class: irreversible, writes: [/account], amounts: { cents: /cents } }
rules:
  - { id: large, ask: bank/pay, amount: { unit: cents, min: 10000 } }
standing: { uses: 10, hours: 24, amounts: { cents: 100000 } }
`);

/**
 * Pays the recorded bills, each in a session of its own. A step that was ruled before gets its
 * ruling again, so an interrupted run is continued.
 */
export async function playBills(store: Store, root: RootKey): Promise<void> {
  const clock = { at: BILLS[0]?.at as Instant };
  const domain = gateway({ rules });
  const assize = new Assize({
    ...{ store, domains: [domain], anchors: [root.publicKey] },
    // Each reading of the clock is a second later.
    ports: { clock: { now: () => (clock.at = addMicros(clock.at, SECOND_MICROS)) } },
  });
  const writ = roleWrit(root, {
    ...{ subject: PEOPLE.agent, trajectory: BILLS_WORLD, actions: ['call', 'report'] },
    scopes: [`role:agent:${AGENT}`, 'tool:**'],
  });
  try {
    const trajectory = await openOrCreate(assize, domain, {
      trajectoryId: BILLS_WORLD,
      note: 'bills of suppliers',
    });
    for (const bill of BILLS) {
      clock.at = bill.at;
      await payBill(bill, { trajectory, writ });
    }
  } finally {
    await assize.close();
  }
}

async function payBill(
  { id, supplier, cents, isLookedUp }: Bill,
  { trajectory, writ }: { readonly trajectory: Trajectory; readonly writ: Writ },
): Promise<void> {
  const act = (action: string, args: object, idempotencyKey: string): Promise<Ruling> =>
    trajectory.propose({
      action,
      role: { name: 'agent', params: { agent: AGENT } },
      args,
      writ,
      idempotencyKey,
    });
  const call = async (server: string, tool: string, args: object): Promise<void> => {
    const name = `${id}-${tool}`;
    const ruling = await act('call', { id: name, server, tool, args, session: id }, name);
    if (ruling.ruling === 'escalated')
      await trajectory.approvals.approve(ruling.pending, {
        principal: PEOPLE.manager,
        method: 'tour',
      });
    await act('report', { call: name, outcome: 'done' }, `${name} done`);
  };
  const account = `/suppliers/${supplier}`;
  if (isLookedUp) await call('accounts', 'get', { account });
  await call('bank', 'pay', { account, cents });
}
