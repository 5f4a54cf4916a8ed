import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { deskOf } from '../../../../../tests/support/ledger/desk.ts';
import {
  HandClock,
  intent,
  operator,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { Assize } from '../assize.ts';

const DAY = 86_400_000;
const writ = writFor('agent');

async function opened(approvals = {}) {
  const clock = new HandClock();
  const domain = deskOf();
  const assize = new Assize({
    store: new MemoryStore(),
    domains: [domain],
    anchors: [operator.publicKey],
    ports: { clock },
    approvals,
  });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
  const ruling = await trajectory.propose(intent('ask', { amount: 5 }, writ));
  if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
  const listed = async () => {
    const all = [];
    for await (const { id } of assize.pending()) all.push(id);
    return [trajectory.approvals.pending().map(({ id }) => id), all];
  };
  return { clock, trajectory, listed, id: ruling.pending };
}

test.each([
  ['after its time-out', { timeoutMs: 60_000 }, 60_000],
  ['after seven days by default', {}, 7 * DAY],
])('an expired proposal is listed nowhere: %s', async (_, approvals, ms) => {
  const { clock, listed, id, trajectory } = await opened(approvals);
  clock.forward(ms - 1);
  expect(await listed()).toEqual([[id], [id]]);
  clock.forward(1);
  expect(await listed()).toEqual([[], []]);
  expect(
    await trajectory.approvals.approve(id, { principal: 'dr-who', method: 'test' }),
  ).toMatchObject({
    ruling: 'rejected',
    reason: 'expired',
  });
});

test('a proposal that never expires stays listed', async () => {
  const { clock, listed, id } = await opened({ timeoutMs: 'never' });
  clock.forward(1_000 * DAY);
  expect(await listed()).toEqual([[id], [id]]);
});
