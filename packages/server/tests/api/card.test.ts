/** The card of a proposal that contradicts the memory of its agent. */
import { expect, test } from 'vitest';
import { pay, succeed } from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';

const AGENT = { as: 'agent:scout' as never };
const BOSS = { as: 'boss:ada' as never };
const space = { trajectory: 'main', space: 'front' };
const trip = { subject: 'carla', predicate: 'phone' };

test('the card says what the memory contradicts, and how many others wait', async () => {
  const server = await start({});
  const object = 'conference, three nights';
  const valid = { from: '2026-06-01T00:00:00.000000Z' };
  await succeed(server, 'memory.state', {
    ...{ ...AGENT, path: space, key: 'm1', body: { verb: 'assert', ...trip, object, valid } },
  });
  const { observation } = await succeed(server, 'memory.recall', {
    ...{ ...AGENT, path: space, body: { ...trip, valid: valid.from } },
  });
  const receipt = { name: 'receipt', value: { from: 'carla', text: 'Hotel, four nights' } };
  const forged = {
    name: 'recall',
    value: { query: { space: ' /**\u0000' }, rows: [['f', 'yesterday'], 7] },
  };
  const propose = async (id: string, observations: readonly object[]): Promise<string> => {
    const asked = pay(id, 200, id, AGENT);
    const body = { ...(asked.body as object), observations };
    return (await succeed(server, 'proposals.create', { ...asked, body })).approval_id;
  };
  const paying = await propose('d1', [receipt, observation, forged]);
  await propose('d2', []);
  const cardFor = async (as: object, approval: string) =>
    (await succeed(server, 'approvals.get', { ...as, path: { approval }, query: { view: 'card' } }))
      .card;
  const { waiting, contradictions } = await cardFor(BOSS, paying);
  expect({ waiting, contradictions }).toEqual({
    waiting: 1,
    contradictions: [
      {
        given: { name: 'receipt', text: 'Hotel, four nights' },
        remembered: expect.objectContaining({ ...trip, space: 'front', text: object }),
      },
    ],
  });
  expect(await cardFor(AGENT, paying)).not.toHaveProperty('contradictions');
});
