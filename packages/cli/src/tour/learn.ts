/** The memory of the agent: over nine months it reads the mail of the office. */
import type { Json } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import type { AgentClient } from './agent-client.ts';
import { timeBefore } from './days.ts';
import { EXPENSES_SPACE, EXPENSES_WORLD } from './tour-config.ts';

/** A statement, and how many days before the last day the agent learns it. */
interface Learnt {
  readonly days: number;
  readonly statement: Json;
}

/** The last statement about Carla's trip contradicts her receipt. */
function learntUntil(lastDay: Instant): Learnt[] {
  const account = { verb: 'assert', subject: 'ada', predicate: 'account' };
  const trip = { subject: 'carla', predicate: 'trip', valid: tripUntil(lastDay) };
  return [
    {
      days: 269,
      statement: {
        ...{ ...account, object: 'DE 17 0001', valid: { from: dayBefore(lastDay, 700) } },
        source: 'list of the office',
      },
    },
    {
      days: 236,
      statement: {
        ...{ ...account, object: 'DE 42 0007', valid: { from: dayBefore(lastDay, 225) } },
        source: 'letter of Ada',
      },
    },
    {
      days: 64,
      statement: {
        ...{ ...trip, verb: 'assert', object: 'conference, four nights', source: 'booking' },
      },
    },
    {
      days: 15,
      statement: {
        ...{ ...trip, verb: 'correct', object: 'conference, three nights at 310.00' },
        source: 'mail of the hotel',
      },
    },
  ];
}

/** Carla's past trip. */
function tripUntil(lastDay: Instant) {
  return { from: dayBefore(lastDay, 21), to: dayBefore(lastDay, 18) };
}

function dayBefore(lastDay: Instant, days: number): Instant {
  return `${timeBefore(lastDay, days, 12).slice(0, 'YYYY-MM-DD'.length)}T00:00:00.000000Z`;
}

/** A repetition has the same keys, so it states nothing twice. */
export async function learn(
  agent: AgentClient,
  lastDay: Instant,
  setClock: (at: Instant) => Promise<unknown>,
): Promise<void> {
  for (const [n, { days, statement }] of learntUntil(lastDay).entries()) {
    await setClock(timeBefore(lastDay, days, 9, 30));
    await agent.state(EXPENSES_WORLD, EXPENSES_SPACE, `learn ${n}`, statement);
  }
}

/**
 * The observation of a recall of the payee's trip. Empty if no trip is known. The recall names the
 * time of the fact, so a repetition observes the same.
 */
export async function tripObservations(
  agent: AgentClient,
  payee: string,
  lastDay: Instant,
): Promise<Json[]> {
  const asked = { subject: payee, predicate: 'trip', valid: tripUntil(lastDay).from };
  const { facts } = await agent.recall(EXPENSES_WORLD, EXPENSES_SPACE, asked);
  const [fact] = facts;
  if (fact === undefined) return [];
  const system = fact.system_time_start;
  return [(await agent.recall(EXPENSES_WORLD, EXPENSES_SPACE, { ...asked, system })).observation];
}
