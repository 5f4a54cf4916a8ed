/** The world `bills`: the calls of an agent that pays suppliers behind a rules file. */

import type { Instant } from 'assize/internal/canon';
import type { RootKey } from 'assize/internal/config';
import { Assize } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { ASKED_FROM, bills } from './bills.ts';
import { beginOf, timeBefore } from './days.ts';
import { type Move, openOrCreate, playScenes, roleWrit, type Scene } from './play.ts';
import { COMMITTED } from './scenes.ts';
import { BILLS_WORLD, PEOPLE } from './tour-config.ts';

const BILLS = 24;
/** Days between two bills. */
const PAUSE = 11;
const SUPPLIERS = ['city-water', 'clean-desk', 'north-power', 'paper-mill'] as const;

/** The bill of a supplier that the list of the office does not have. */
const UNKNOWN = { n: 19, supplier: 'acme-gold', cents: 4_900 } as const;
/** Approved the bills before the visitor of the tour came. */
const APPROVER = 'manager:hugo';
const AGENT = PEOPLE.agent.slice('agent:'.length);
/** The agent calls tools, and its person decides, through the role `agent`. */
const ROLE = 'agent';

/**
 * Bills over nine months, each in a session of its own. The order and the amounts look random, and
 * are the same in every tour. Before it pays, the agent looks a known supplier up.
 */
function billsUntil(lastDay: Instant): Scene[] {
  return Array.from({ length: BILLS }, (_, n) => {
    const number = (n * 48_271 + 11_399) % 9_973;
    const isUnknown = n === UNKNOWN.n;
    const cents = isUnknown ? UNKNOWN.cents : 1_000 + number * 2;
    const account = `/suppliers/${isUnknown ? UNKNOWN.supplier : SUPPLIERS[number % SUPPLIERS.length]}`;
    const bill = `bill-${n + 1}`;
    const lookedUp = isUnknown ? [] : callOf(bill, 'accounts', 'get', { account });
    return {
      day: timeBefore(lastDay, (BILLS - n) * PAUSE, 12).slice(0, 'YYYY-MM-DD'.length),
      heading: bill,
      moves: [...lookedUp, ...callOf(bill, 'bank', 'pay', { account, cents }, cents >= ASKED_FROM)],
    };
  });
}

/** A call of a tool, and its report. */
function callOf(
  session: string,
  server: string,
  tool: string,
  args: object,
  isAsked = false,
): Scene['moves'] {
  const id = `${session}-${tool}`;
  const agent = { role: ROLE, params: { agent: AGENT }, becomes: COMMITTED };
  const call: Move = {
    ...agent,
    action: 'call',
    args: { id, server, tool, args, session },
    key: id,
  };
  const report = { ...agent, action: 'report', args: { call: id, outcome: 'done' } };
  return [call, ...(isAsked ? (['approval'] as const) : []), { ...report, key: `${id} done` }];
}

/** Pays the recorded bills. */
export async function playBills(store: Store, root: RootKey, lastDay: Instant): Promise<void> {
  const clock = { at: beginOf(lastDay) };
  const assize = new Assize({
    ...{ store, domains: [bills], anchors: [root.publicKey] },
    ports: { clock: { now: () => clock.at } },
  });
  const writ = roleWrit(root, {
    ...{ subject: PEOPLE.agent, trajectory: BILLS_WORLD, actions: ['call', 'report'] },
    scopes: [`role:${ROLE}:${AGENT}`, 'tool:**'],
  });
  try {
    const trajectory = await openOrCreate(assize, bills, {
      ...{ trajectoryId: BILLS_WORLD, note: 'bills of suppliers' },
    });
    await playScenes(billsUntil(lastDay), {
      ...{ trajectory, writs: new Map([[ROLE, writ]]), clock, person: APPROVER },
    });
  } finally {
    await assize.close();
  }
}
