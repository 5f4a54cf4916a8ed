import { expect, test } from 'vitest';
import { desk, said } from '../../../../tests/support/domains/gateway/desk.ts';

const RULES = `
id: undo
tools:
  bank/pay: { class: reversible, undo: { tool: bank/refund, args: { id: /result/id } } }
  bank/refund: { class: reversible }
  bank/look: { class: read }
rules:
  - { id: pay, allow: [bank/pay, bank/look] }
  - { id: refund, ask: bank/refund }
`;

async function paid() {
  const made = await desk(RULES);
  await made.call('ada', 'bank/pay', { cents: 5 }, { once: true });
  await made.act('report', { call: 'c1', outcome: 'done', result: { id: 7 } }, 'ada');
  return {
    ...made,
    undo: (tool: string) => made.call('ada', tool, { id: 7 }, { once: true, undoes: 'c1' }),
  };
}

test('only the tool that the rules name takes a call back', async () => {
  const { undo, state } = await paid();
  expect(said(await undo('bank/look'))).toContain('the rules do not undo bank/pay by bank/look');
  expect(state().calls['c1']?.undoneBy).toBeUndefined();
  expect(said(await undo('bank/refund'))).toBe('escalated refund');
});

test('an undoing that can no longer start leaves its call to another one', async () => {
  const { undo, approve, act, state, configure } = await paid();
  await approve(await undo('bank/refund'));
  expect(state().calls['c1']?.undoneBy).toBe('c2');
  expect(said(await undo('bank/refund'))).toContain('is undone by c2 already');
  await configure(RULES.replace('id: undo', 'id: newer'));
  await act('tidy', {});
  expect(state().calls['c2']).toBeUndefined();
  await approve(await undo('bank/refund'));
  expect(state().calls['c1']?.undoneBy).toBe('c4');
});

test('an operator settles a call only when its agent has been silent', async () => {
  const { call, act, clock, state } = await desk(RULES);
  await call('ada', 'bank/pay', { cents: 5 });
  await call('ada', 'bank/pay', { cents: 6 });
  expect(said(await act('report', { call: 'c1', outcome: 'failed' }))).toContain(
    'may be in progress',
  );
  await act('report', { call: 'c2', outcome: 'unknown' }, 'ada');
  expect(said(await act('report', { call: 'c2', outcome: 'failed' }))).toBe('committed');
  clock.forward(11 * 60_000);
  expect(said(await act('report', { call: 'c1', outcome: 'failed' }))).toBe('committed');
  expect(state().open).toEqual({});
});
