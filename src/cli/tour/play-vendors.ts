/** The world `vendors`: facts with two times, a contradiction, and a late correction. */
import type { Writ } from '#authority';
import type { Instant } from '#canon';
import type { RootKey } from '#config';
import { type AssertInput, Assize, type Memory, type Trajectory } from '#runtime';
import type { Store } from '#stores';
import { roleWrit } from './role-writ.ts';
import { vendors } from './vendors.ts';
import { openOrCreate } from './worlds.ts';

export const VENDORS_WORLD = 'vendors';
const SPACE = 'vendors';
const NORTHWIND = 'northwind';

interface Told {
  readonly day: string;
  readonly claims: readonly AssertInput[];
}

/** The statements about the vendors, by the day on which the agent was told. */
const TOLD: readonly Told[] = [
  {
    day: '2026-01-12',
    claims: [
      claim(NORTHWIND, 'account', 'NL03 1201', '2026-01-01', 'contract of 2026', 0.8),
      claim(NORTHWIND, 'contact', 'Mila', '2026-01-01', 'contract of 2026'),
      claim(NORTHWIND, 'supplies', 'paper', '2026-01-01', 'contract of 2026'),
      claim(NORTHWIND, 'supplies', 'toner', '2026-01-01', 'contract of 2026'),
      claim('tailspin', 'account', 'DE89 3704', '2026-01-01', 'contract of 2026', 0.8),
      claim('tailspin', 'supplies', 'hosting', '2026-01-01', 'contract of 2026'),
    ],
  },
  // A mail without a signature asks for another account. It loses to the contract, and is kept.
  { day: '2026-03-09', claims: [claim(NORTHWIND, 'account', 'GB29 9999', '2026-03-01', 'mail of 9 March', 0.2)] },
  { day: '2026-04-02', claims: [claim(NORTHWIND, 'contact', 'Joren', '2026-04-01', 'call of 2 April')] },
  // The signed notice arrives late: the account had changed on 1 April.
  { day: '2026-05-20', claims: [claim(NORTHWIND, 'account', 'NL91 4177', '2026-04-01', 'signed notice', 0.9)] },
];

/** The order that rests on the accounts as they were believed on its day. */
const ORDERED = '2026-04-15';

/**
 * States the facts on their own days. A statement that was ruled before gets its ruling again, so
 * an interrupted run is continued.
 */
export async function playVendors(store: Store, root: RootKey): Promise<void> {
  const clock = { at: at(TOLD[0]!.day) };
  const assize = new Assize({
    ...{ store, domains: [vendors], anchors: [root.publicKey] },
    ports: { clock: { now: () => clock.at } },
  });
  try {
    const trajectory = await openOrCreate(assize, vendors, {
      trajectoryId: VENDORS_WORLD,
      note: 'the memory of a buyer',
    });
    const writ = buyerWrit(root);
    const memory = trajectory.memory({ space: SPACE, writ });
    const days = [...TOLD, { day: ORDERED, claims: [] }].toSorted((a, b) => (a.day < b.day ? -1 : 1));
    for (const { day, claims } of days) {
      clock.at = at(day);
      if (day === ORDERED) await order(trajectory, memory, writ);
      for (const said of claims)
        await memory.assert(said, { idempotencyKey: `${said.source} ${said.predicate} ${said.object}` });
    }
  } finally {
    await assize.close();
  }
}

/** Orders paper, with the recalled account as the observation. */
async function order(trajectory: Trajectory, memory: Memory, writ: Writ): Promise<void> {
  const { observation } = await memory.recall({
    subject: NORTHWIND,
    predicate: 'account',
    valid: at(ORDERED),
    system: at(ORDERED),
  });
  await trajectory.propose({
    ...{
      action: 'order',
      role: { name: 'Buyer', params: { vendor: NORTHWIND } },
      args: { item: 'paper', cents: 31_000 },
    },
    ...{ observations: [observation], writ, idempotencyKey: 'order paper' },
  });
}

function buyerWrit(root: RootKey): Writ {
  return roleWrit(root, {
    subject: 'agent:buyer',
    trajectory: VENDORS_WORLD,
    actions: ['assize.believe', 'order'],
    scopes: [`memory:${SPACE}:**`, 'role:Buyer:**'],
  });
}

function claim(
  subject: string,
  predicate: string,
  object: string,
  from: string,
  source: string,
  confidence = 0.5,
): AssertInput {
  return { subject, predicate, object, valid: { from }, source, confidence };
}

function at(day: string): Instant {
  return `${day}T09:00:00.000000Z`;
}
