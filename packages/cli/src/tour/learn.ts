/** The memory of the agent: it reads the mail of the office before the receipts. */
import type { Json } from 'assize/internal/base';
import type { AgentClient } from './agent-client.ts';
import { EXPENSES_SPACE, EXPENSES_WORLD } from './tour-config.ts';

const TRIP = { from: '2026-06-01T00:00:00.000000Z', to: '2026-06-04T00:00:00.000000Z' };

/** The last statement about Carla's trip contradicts her receipt. */
const STATEMENTS = [
  {
    ...{ verb: 'assert', subject: 'ada', predicate: 'account', object: 'DE 17 0001' },
    ...{ valid: { from: '2025-01-01T00:00:00.000000Z' }, source: 'list of the office' },
  },
  {
    ...{ verb: 'assert', subject: 'ada', predicate: 'account', object: 'DE 42 0007' },
    ...{ valid: { from: '2026-04-01T00:00:00.000000Z' }, source: 'letter of Ada, 20 March' },
  },
  {
    ...{ verb: 'assert', subject: 'carla', predicate: 'trip', object: 'conference, four nights' },
    ...{ valid: TRIP, source: 'booking of 2 May' },
  },
  {
    ...{
      verb: 'correct',
      subject: 'carla',
      predicate: 'trip',
      object: 'conference, three nights at 310.00',
    },
    ...{ valid: TRIP, source: 'mail of the hotel, 5 June' },
  },
] as const;

/** A repetition has the same keys, so it states nothing twice. */
export async function learn(agent: AgentClient): Promise<void> {
  for (const [n, statement] of STATEMENTS.entries())
    await agent.state(EXPENSES_WORLD, EXPENSES_SPACE, `learn ${n}`, statement);
}

/**
 * The observation of a recall of the payee's trip. Empty if no trip is known. The recall names the
 * time of the fact, so a repetition observes the same.
 */
export async function tripObservations(agent: AgentClient, payee: string): Promise<Json[]> {
  const asked = { subject: payee, predicate: 'trip', valid: TRIP.from };
  const { facts } = await agent.recall(EXPENSES_WORLD, EXPENSES_SPACE, asked);
  const [fact] = facts;
  if (fact === undefined) return [];
  const system = fact.system_time_start;
  return [(await agent.recall(EXPENSES_WORLD, EXPENSES_SPACE, { ...asked, system })).observation];
}
