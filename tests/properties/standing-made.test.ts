/** Uses of a standing approval whose calls Assize makes: the effect log has their outcomes. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { StandingReader, standingView } from '#calls';
import { addMicros } from '#canon';
import { DidNothing, declareTool } from '#effects';
import { desk } from '../support/domains/gateway/desk.ts';

const RULES = `
id: bank
tools: { bank/pay: { class: irreversible, amounts: { cents: /cents } } }
rules: [{ id: pay, ask: bank/pay }]
standing: { uses: 5, hours: 24, amounts: { cents: 500 } }
`;

const pay = declareTool({
  ...{
    name: 'bank.pay',
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' } as const,
    input: z.strictObject({ cents: z.number().int() }),
  },
  writes: ['bank:{cents}'],
  execute: ({ cents }) => {
    if (cents === 2) throw new DidNothing('the account is closed', { final: true });
    if (cents === 3) throw new Error('the line broke');
    return { paid: cents };
  },
});

test('a made call is done, failed or unknown, as its effect is', async () => {
  const { act, approve, call, clock, store, assize } = await desk(RULES, { tools: [pay] });
  const terms = {
    agent: 'ada',
    tools: ['bank/pay'],
    uses: 5,
    amounts: { cents: 500 },
    because: 'the bills',
  };
  const expires = addMicros(clock.now(), 3_600_000_000);
  expect(
    await approve(await act('stand', { id: 'bills', ...terms, expires }, 'ada')),
  ).toMatchObject({
    ruling: 'committed',
  });
  for (const cents of [1, 2, 3])
    expect(await call('ada', 'bank/pay', { cents })).toMatchObject({ ruling: 'committed' });
  const [record] = await new StandingReader(store, 'desk').read();
  const { calls } = standingView(record!, clock.now(), () => undefined);
  expect(calls.map(({ call: id, outcome }) => [id, outcome])).toEqual([
    ['c1', 'done'],
    ['c2', 'failed'],
    ['c3', 'unknown'],
  ]);
  expect(calls[0]).not.toHaveProperty('epoch');
  await assize.close();
});
