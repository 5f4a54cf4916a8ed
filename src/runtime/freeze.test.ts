import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain, escalate, pass } from '#kernel';
import { MemoryStore } from '#stores';
import { intent, runtimeOver, writFor } from '../../tests/support/runtime.ts';

const desk = defineDomain<any, any>({
  name: 'desk',
  version: '1',
  state: z.object({ mine: z.record(z.string(), z.number()), other: z.number() }),
  initial: { mine: {}, other: 0 },
  processes: { work: { writes: ['/mine/{who}'] }, elsewhere: { writes: ['/other'] } },
  roles: { worker: { params: ['who'], processes: ['work'] }, guest: { processes: ['elsewhere'] } },
  actions: {
    set: {
      process: 'work',
      args: z.number(),
      apply: (state: any, to: number, { role }: any) => {
        state.mine[role.who] = to;
      },
    },
    go: { process: 'elsewhere', args: z.any(), apply: () => {} },
  } as never,
  invariants: (rules: any) => [rules.each('ASK', '/mine/*', {}, (n: number) => (n < 5 ? pass : escalate('look')))],
  counselors: { doctor: (principal: string) => principal === 'doc' },
  freeze: 'footprint',
});
const writ = writFor('alice');
const as = (name: string, params: Record<string, string> = {}): object => ({ role: { name, params } });

test('while something waits, an intent that does not compile is told so in an entry, and freezes or breaks nothing', async () => {
  const trajectory = await runtimeOver(new MemoryStore(), [desk]).create(desk, { trajectoryId: 't' });
  await trajectory.propose(intent('set', 9, writ, as('worker', { who: 'a' })));
  const propose = (action: string, role: object): Promise<unknown> => trajectory.propose(intent(action, 1, writ, role));
  const refused = (reason: string): object => ({ ruling: 'rejected', reason });
  expect(await propose('set', as('worker'))).toMatchObject(refused('type_mismatch'));
  expect(await propose('set', as('nobody', { who: 'a' }))).toMatchObject(refused('type_mismatch'));
  expect(await propose('set', as('constructor', { who: 'a' }))).toMatchObject(refused('type_mismatch'));
  expect(await propose('set', as('guest'))).toMatchObject(refused('invalid_authority'));
  expect(await propose('set', as('guest', { who: 'a' }))).toMatchObject(refused('type_mismatch'));
  expect(await propose('fly', as('worker', { who: 'a' }))).toMatchObject(refused('unknown_tool'));
  expect(await propose('set', as('worker', { who: 'a' }))).toMatchObject({ ruling: 'frozen' });
  expect(await propose('set', as('worker', { who: 'b' }))).toMatchObject({ ruling: 'committed' });
  expect(await propose('go', as('guest'))).toMatchObject({ ruling: 'committed' });
  const [pending] = trajectory.pending();
  const approved = trajectory.approve(pending?.id as string, { principal: 'doc', method: 'test', override: true });
  expect(await approved).toMatchObject({ ruling: 'committed' });
  expect(trajectory.state()).toEqual({ mine: { a: 9, b: 1 }, other: 0 });
});
