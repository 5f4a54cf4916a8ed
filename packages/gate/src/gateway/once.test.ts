import { expect, test } from 'vitest';
import { desk, said } from '../../../../tests/support/domains/gateway/desk.ts';
import { callDigest, definitionHash, openCalls, waitingCalls } from './index.ts';

const RULES = `
id: once
tools: { bank/pay: { class: irreversible }, bank/look: { class: read } }
rules:
  - { id: look, allow: bank/look }
  - { id: pay, ask: bank/pay }
`;
const once = { once: true };
const digest = callDigest({ args: {} });

test('a call that commits immediately starts, and cannot start again', async () => {
  const { call, act, state } = await desk(RULES);
  await call('ada', 'bank/look', {}, once);
  expect(state().calls['c1']?.begunAt).toBe(state().calls['c1']?.at);
  expect(said(await act('begin', { call: 'c1', digest }, 'ada'))).toContain('has already started');
});

test('a call for later is let through, and starts by its own action', async () => {
  const { call, act, state, clock } = await desk(RULES);
  expect(said(await call('ada', 'bank/look', {}, { ...once, later: true }))).toBe('committed');
  expect(state().calls['c1']?.begunAt).toBeUndefined();
  expect(openCalls(state(), clock.now())).toEqual([]);
  expect(said(await act('report', { call: 'c1', outcome: 'done' }, 'ada'))).toContain(
    'has not started',
  );
  expect(said(await act('begin', { call: 'c1', digest }, 'ada'))).toBe('committed');
  expect(said(await act('begin', { call: 'c1', digest }, 'ada'))).toContain('has already started');
});

test('an approval lets a call start once, under any id', async () => {
  const { call, act, approve, state, clock } = await desk(RULES);
  const asked = await call('ada', 'bank/pay', {}, once);
  expect(said(await act('begin', { call: 'c1', digest }, 'ada'))).toContain('there is no call');
  await approve(asked);
  expect(state().calls['c1']?.begunAt).toBeUndefined();
  expect(openCalls(state(), clock.now())).toEqual([]);
  expect(said(await act('report', { call: 'c1', outcome: 'done' }, 'ada'))).toContain(
    'has not started',
  );
  expect(said(await act('begin', { call: 'c1', digest }, 'ben'))).toContain('another agent');
  expect(said(await act('begin', { call: 'c1', digest, as: 'retry-1' }, 'ada'))).toBe('committed');
  expect(state().calls['c1']).toMatchObject({ begunAs: 'retry-1' });
  expect(openCalls(state(), clock.now())).toMatchObject([{ id: 'c1', inDoubt: false }]);
  expect(said(await act('begin', { call: 'c1', digest, as: 'retry-2' }, 'ada'))).toContain(
    'has already started',
  );
  expect(
    said(await act('report', { call: 'c1', outcome: 'done', result: { ok: true } }, 'ada')),
  ).toBe('committed');
  expect(state().calls['c1']?.result).toMatch(/^[0-9a-f]{64}$/);
  expect(said(await act('begin', { call: 'c1', digest }, 'ada'))).toContain('has already started');
});

test('an approval with other arguments is for these alone', async () => {
  const { call, act, trajectory } = await desk(RULES);
  const asked = await call('ada', 'bank/pay', { cents: 5 }, once);
  if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
  const args = { id: 'c1', server: 'bank', tool: 'pay', args: { cents: 3 }, once: true };
  const approval = { principal: 'human:grace', method: 'test', args };
  expect((await trajectory.approvals.approve(asked.pending, approval)).ruling).toBe('committed');
  const begin = (cents: number) =>
    act('begin', { call: 'c1', digest: callDigest({ args: { cents } }) }, 'ada');
  expect(said(await begin(5))).toContain('with other arguments');
  expect(said(await begin(3))).toBe('committed');
});

test.each([3, 500])(
  'an approval with %i cents lets the agent begin an allowed call',
  async (cents) => {
    const { call, act, trajectory, state } = await desk(`
id: once
tools: { bank/pay: { class: irreversible } }
rules:
  - { id: large, ask: bank/pay, where: [{ path: /cents, min: 100 }] }
  - { id: small, allow: bank/pay }
`);
    const asked = await call('ada', 'bank/pay', { cents: 900 }, once);
    if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
    const args = { id: 'c1', server: 'bank', tool: 'pay', args: { cents }, once: true };
    const approval = { principal: 'human:grace', method: 'test', args };
    expect((await trajectory.approvals.approve(asked.pending, approval)).ruling).toBe('committed');
    expect(state().calls['c1']?.begunAt).toBeUndefined();
    const given = { call: 'c1', digest: callDigest({ args: { cents } }) };
    expect(said(await act('begin', given, 'ada'))).toBe('committed');
    expect(said(await act('begin', given, 'ada'))).toContain('has already started');
  },
);

test('an approval ends with the rules under which it was given', async () => {
  const { call, act, approve, configure, state, clock } = await desk(RULES);
  await approve(await call('ada', 'bank/pay', {}, once));
  await configure(`${RULES}\n  - { id: never, deny: bank/pay }`);
  expect(said(await act('begin', { call: 'c1', digest }, 'ada'))).toContain('rules have changed');
  expect(waitingCalls(state(), { server: 'bank', agent: 'ada', now: clock.now() })).toEqual([]);
  await act('tidy', {});
  expect(state().calls).toEqual({});
});

test('an approval ends with the definition under which it was given', async () => {
  const { call, act, approve, state, clock } = await desk(RULES);
  const pin = (n: number) => act('pin', { server: 'bank', tool: 'pay', definition: { n } });
  const shown = (n: number) => ({ ...once, definition: definitionHash({ n }) });
  const waiting = () =>
    waitingCalls(state(), { server: 'bank', agent: 'ada', now: clock.now() }).map(({ id }) => id);
  await pin(1);
  await approve(await call('ada', 'bank/pay', {}, shown(1)));
  await approve(await call('ada', 'bank/pay', {}, once));
  const asked = await call('ada', 'bank/pay', {}, shown(1));
  expect(waiting()).toEqual(['c1', 'c2']);
  await approve(await pin(2));
  // An answer that comes after the change lets no call through.
  expect(said(await approve(asked))).toContain('would now make other changes');
  for (const id of ['c1', 'c2'])
    expect(said(await act('begin', { call: id, digest }, 'ada'))).toContain(
      'definition of bank/pay has changed',
    );
  expect(waiting()).toEqual([]);
  await approve(await call('ada', 'bank/pay', {}, shown(2)));
  expect(waiting()).toEqual(['c4']);
  expect(said(await act('begin', { call: 'c4', digest }, 'ada'))).toBe('committed');
  await act('tidy', {});
  expect(Object.keys(state().calls)).toEqual(['c4']);
});

test('an approval ends after a day, and the clean-up drops its call', async () => {
  const { call, act, approve, state, clock } = await desk(RULES);
  await approve(await call('ada', 'bank/pay', {}, once));
  clock.forward(24 * 3_600_000 + 10_000);
  expect(said(await act('begin', { call: 'c1', digest }, 'ada'))).toContain('more than a day ago');
  await act('tidy', {});
  expect(state().calls).toEqual({});
});

test('a call without once needs no beginning', async () => {
  const { call, act } = await desk(RULES);
  await call('ada', 'bank/look');
  expect(said(await act('begin', { call: 'c1', digest }, 'ada'))).toContain('needs no beginning');
  expect(said(await act('report', { call: 'c1', outcome: 'done' }, 'ada'))).toBe('committed');
});

test('a subagent’s session has its parent, and ended sessions are dropped', async () => {
  const { act, state, clock } = await desk(RULES);
  const start = (session: string, more: object = {}) =>
    act('session', { session, event: 'start', ...more }, 'ada');
  expect(said(await start('s1', { about: 'startup' }))).toBe('committed');
  expect(said(await start('s1/a', {}))).toContain('rejected');
  expect(said(await start('s1.a', { parent: 's1', about: 'Explore' }))).toBe('committed');
  expect(said(await start('s2.a', { parent: 's2' }))).toContain('has no session s2');
  expect(said(await act('session', { session: 's1', event: 'end' }, 'ben'))).toContain(
    'another agent',
  );
  await act('session', { session: 's1.a', event: 'end' }, 'ada');
  expect(state().sessions).toMatchObject({ s1: { about: 'startup' }, 's1.a': { parent: 's1' } });
  clock.forward(2 * 24 * 3_600_000);
  await act('tidy', {});
  expect(Object.keys(state().sessions)).toEqual(['s1']);
});

test('the caller cannot start a call that Assize makes itself', async () => {
  const { call, act, state } = await desk(RULES);
  const rules = JSON.parse(state().rules.text) as object;
  expect(said(await act('configure', { rules, runs: ['bank.look'] }))).toBe('committed');
  expect(said(await call('ada', 'bank/look', {}, once))).toContain(
    'Assize makes the calls of bank/look itself',
  );
  expect(state().calls).toEqual({});
});

test('a call does not start after its standing approval has ended or expired', async () => {
  const opened = await desk(`
id: b
default: ask
tools:
  bank/pay: { class: irreversible, amounts: { euros: /euros } }
standing: { uses: 10, hours: 24, amounts: { euros: 500 } }
`);
  opened.clock.at = '2026-06-01T09:00:00.000000Z';
  const stand = {
    agent: 'ada',
    tools: ['bank/pay'],
    uses: 5,
    amounts: { euros: 500 },
    because: 'x',
  };
  const allow = async (id: string): Promise<void> => {
    const asked = await opened.act(
      'stand',
      { ...stand, id, expires: '2026-06-01T12:00:00Z' },
      'ada',
    );
    expect(said(await opened.approve(asked))).toBe('committed');
  };
  const ask = (id: string, euros: number) =>
    opened.call('ada', 'bank/pay', { euros }, { once: true, later: true, id });
  const begin = async (call: string): Promise<string> =>
    said(await opened.act('begin', { call, digest: opened.state().calls[call]!.digest }, 'ada'));
  await allow('a');
  for (const id of ['c1', 'c2', 'c3']) expect(said(await ask(id, 10))).toBe('committed');
  expect(await begin('c1')).toBe('committed');
  expect(said(await opened.act('end_standing', { id: 'a' }))).toBe('committed');
  expect(await begin('c2')).toContain('standing approval a');
  await allow('b');
  expect(await begin('c2')).toContain('has ended; ask again');
  expect(said(await ask('c4', 10))).toBe('committed');
  opened.clock.at = '2026-06-01T12:00:00.000000Z';
  expect(await begin('c4')).toContain('standing approval b');
});

test('a standing approval above the maximum of later rules covers no call', async () => {
  const rules = (standing: string): string => `
id: b
default: ask
tools:
  bank/pay: { class: irreversible, amounts: { euros: /euros } }
${standing}
`;
  const opened = await desk(rules('standing: { uses: 10, hours: 24, amounts: { euros: 500 } }'));
  opened.clock.at = '2026-06-01T09:00:00.000000Z';
  const stand = {
    agent: 'ada',
    tools: ['bank/pay'],
    uses: 5,
    amounts: { euros: 400 },
    because: 'x',
    id: 'a',
  };
  await opened.approve(
    await opened.act('stand', { ...stand, expires: '2026-06-01T12:00:00Z' }, 'ada'),
  );
  const pay = async (): Promise<string> => said(await opened.call('ada', 'bank/pay', { euros: 1 }));
  expect(await pay()).toBe('committed');
  for (const stricter of [
    '',
    'standing: { uses: 4, hours: 24, amounts: { euros: 500 } }',
    'standing: { uses: 9, hours: 9, amounts: { euros: 399 } }',
  ]) {
    await opened.configure(rules(stricter));
    expect(await pay()).toContain('escalated');
    for (const open of opened.trajectory.approvals.pending())
      await opened.trajectory.approvals.reject(open.id, {
        principal: 'human:grace',
        method: 'test',
        reason: 'no',
        digest: open.payload.digest,
      });
  }
  await opened.configure(rules('standing: { uses: 5, hours: 24, amounts: { euros: 400 } }'));
  expect(await pay()).toBe('committed');
});
