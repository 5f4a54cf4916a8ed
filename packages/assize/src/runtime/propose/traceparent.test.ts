import { deepReplay } from '@assize/audit/internal/replay';
import { expect, test } from 'vitest';
import { observationsOf, readRow, traceparentIn } from '#ledger';
import { deskOf, FaultyStore, soundState } from '../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { ProposalInput } from '../records/intent.ts';
import type { Ruling } from '../records/ruling.ts';

const writ = writFor('agent');
const desk = deskOf();
const first = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const second = '00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01';

async function begun() {
  const store = new FaultyStore();
  const trajectory = await runtimeOver(store, [desk]).create(desk, {
    trajectoryId: 't',
    writs: [writ],
  });
  const propose = (action: string, args: object, more: Partial<ProposalInput>): Promise<Ruling> =>
    trajectory.propose(intent(action, args, writ, more));
  return { store, trajectory, propose };
}

const recorded = (ruling: Ruling): string | undefined =>
  ruling.ruling === 'frozen' ? undefined : traceparentIn(readRow(ruling.entry).payload);

test.each([
  ['committed', 'add', { by: 1 }],
  ['rejected', 'add', { by: 99 }],
  ['escalated', 'ask', { amount: 5 }],
])('a %s proposal records the trace of its caller', async (ruling, action, args) => {
  const { propose, store } = await begun();
  const answer = await propose(action, args, { traceparent: first });
  expect(answer.ruling).toBe(ruling);
  expect(recorded(answer)).toBe(first);
  await soundState(store, 't');
});

test('a decision about a proposal keeps the trace that asked', async () => {
  const { propose, trajectory } = await begun();
  const asked = await propose('ask', { amount: 5 }, { traceparent: first });
  if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
  const decided = await trajectory.approvals.approve(asked.pending, {
    principal: 'dr-who',
    method: 'test',
  });
  expect(decided.ruling).toBe('committed');
  expect(recorded(decided)).toBe(first);
});

test('a repetition in another trace is the same proposal, with the first trace', async () => {
  const { propose } = await begun();
  const once = await propose('add', { by: 1 }, { idempotencyKey: 'k', traceparent: first });
  for (const traceparent of [first, second, undefined]) {
    const again = await propose('add', { by: 1 }, { idempotencyKey: 'k', traceparent });
    expect(again).toEqual(once);
    expect(recorded(again)).toBe(first);
  }
  await expect(
    propose('add', { by: 2 }, { idempotencyKey: 'k', traceparent: first }),
  ).rejects.toMatchObject({
    code: 'idempotency_conflict',
  });
});

test('a malformed trace is dropped, and the proposal is ruled on', async () => {
  const { propose } = await begun();
  for (const traceparent of ['secret', `${first}-x`, 5 as never]) {
    const ruling = await propose('add', { by: 1 }, { traceparent });
    if (ruling.ruling !== 'committed') throw new Error(ruling.ruling);
    expect(observationsOf(readRow(ruling.entry).payload)).toEqual([]);
  }
});

test('a domain sees no trace, now or in a deep replay', async () => {
  const { propose, store, trajectory } = await begun();
  const observations = [{ name: 'letter', value: 'seen' }];
  await propose('keep', { value: 5 }, { traceparent: first });
  expect(trajectory.state()).toMatchObject({ data: 5 });
  await propose('keep', { value: 5 }, { traceparent: first, observations });
  expect(trajectory.state()).toMatchObject({ data: ['seen'] });
  const report = await deepReplay(store, 't', { domains: [desk] });
  expect(report.differences).toEqual([]);
});

test('no caller may observe under the name of the trace', async () => {
  const { propose } = await begun();
  const observations = [{ name: 'assize.traceparent', value: first }];
  await expect(propose('add', { by: 1 }, { observations })).rejects.toMatchObject({
    code: 'bad_intent',
  });
});
