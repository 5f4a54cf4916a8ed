/** Attacks on approvals and standing approvals of the gateway. */
import { describe, expect, test } from 'vitest';
import { type Desk, desk, said } from '../../../../tests/support/domains/gateway/desk.ts';
import { writFor } from '../../../../tests/support/ledger/runtime.ts';

const BANK = `
id: bank
tools:
  bank/pay: { class: irreversible, amounts: { cents: /cents } }
  mail/send: { class: irreversible }
rules:
  - { id: small, allow: bank/pay, amount: { unit: cents, max: 100 } }
  - { id: medium, ask: bank/pay, amount: { unit: cents, min: 101, max: 1000 } }
  - { id: large, ask: bank/pay, amount: { unit: cents, min: 1001 }, approvals: 2 }
  - { id: mail, ask: mail/send, standing: false }
limits:
  - { id: day, tools: bank/pay, per: day, unit: cents, max: 10000 }
standing: { uses: 3, hours: 10, amounts: { cents: 2000 } }
`;

describe('an approval', () => {
  test('lets one call through, and not a second equal one', async () => {
    const { call, approve } = await desk(BANK);
    const first = await call('ada', 'bank/pay', { cents: 500 });
    const second = await call('ada', 'bank/pay', { cents: 500 });
    expect((await approve(first)).ruling).toBe('committed');
    await expect(approve(first)).rejects.toMatchObject({ code: 'not_pending' });
    expect(second.ruling).toBe('escalated');
    expect(said(await call('ada', 'bank/pay', { cents: 500 }))).toBe('escalated medium');
  });

  test('is bound to the arguments that were shown', async () => {
    const { call, trajectory } = await desk(BANK);
    const [small, large] = [
      await call('ada', 'bank/pay', { cents: 200 }),
      await call('ada', 'bank/pay', { cents: 900 }),
    ];
    if (small.ruling !== 'escalated' || large.ruling !== 'escalated')
      throw new Error('they escalate');
    const [shown] = trajectory.approvals.pending();
    expect(shown?.payload.proposal.action.args).toEqual({
      id: 'c1',
      server: 'bank',
      tool: 'pay',
      args: { cents: 200 },
    });
    const { digest } = shown!.payload;
    const decision = { principal: 'human:grace', method: 'test', digest };
    await expect(trajectory.approvals.approve(large.pending, decision)).rejects.toMatchObject({
      code: 'digest_mismatch',
    });
    expect((await trajectory.approvals.approve(small.pending, decision)).ruling).toBe('committed');
  });

  test('is given neither by an agent nor by the requester', async () => {
    const { call, approve } = await desk(BANK);
    const asked = await call('ada', 'bank/pay', { cents: 500 });
    for (const principal of ['agent:ben', 'agent:ada', 'robot', 'Human:grace'])
      await expect(approve(asked, principal)).rejects.toMatchObject({
        code: 'unauthorised_counselor',
      });
  });

  test('of a large payment needs two people', async () => {
    const { call, approve, state } = await desk(BANK);
    const first = await approve(await call('ada', 'bank/pay', { cents: 5_000 }));
    expect(first.ruling).toBe('escalated');
    await expect(approve(first)).rejects.toMatchObject({ code: 'already_approved' });
    expect((await approve(first, 'human:otto')).ruling).toBe('committed');
    expect(state().calls['c1']?.approvedBy).toEqual(['human:grace', 'human:otto']);
  });

  test('does not override a rule that denies, a limit or a budget', async () => {
    const { call, approve, trajectory } = await desk(BANK);
    const asked = await call('ada', 'bank/pay', { cents: 900 });
    if (asked.ruling !== 'escalated') throw new Error('it escalates');
    const amended = { id: 'c1', server: 'bank', tool: 'pay', args: { cents: 20_000 } };
    const decision = { principal: 'human:grace', method: 'test', override: true, args: amended };
    await expect(trajectory.approvals.approve(asked.pending, decision)).rejects.toMatchObject({
      code: /final_rule|invalid_amendment/,
    });
    expect((await approve(asked)).ruling).toBe('committed');
  });
});

describe('a standing approval', () => {
  const HOUR = 3_600_000;
  const terms = ({ clock }: Desk, more: object = {}) => ({
    id: 'lunch',
    agent: 'ada',
    tools: ['bank/pay'],
    uses: 3,
    amounts: { cents: 1_000 },
    expires: new Date(Date.parse(clock.now()) + 5 * HOUR).toISOString(),
    because: 'Lunch of the team.',
    ...more,
  });
  async function standing(more: object = {}) {
    const made = await desk(BANK);
    const asked = await made.act('stand', terms(made, more), 'ada');
    return { ...made, asked };
  }

  test('counts only with the approval of a person', async () => {
    const { asked, call, approve, state, trajectory } = await standing();
    expect(asked).toMatchObject({ ruling: 'escalated', invariantId: 'STANDING_APPROVED' });
    expect(said(await call('ada', 'bank/pay', { cents: 500 }))).toBe('escalated medium');
    await expect(approve(asked, 'agent:ben')).rejects.toMatchObject({
      code: 'unauthorised_counselor',
    });
    expect((await approve(asked)).ruling).toBe('committed');
    expect(said(await call('ada', 'bank/pay', { cents: 500 }))).toBe('committed');
    expect(state().calls['c2']).toMatchObject({ standing: 'lunch', approvedBy: [] });
    expect(trajectory.approvals.pending()).toHaveLength(1);
  });

  test('ends with its budget and its uses', async () => {
    const { asked, call, approve } = await standing();
    await approve(asked);
    const pay = (cents: number) => call('ada', 'bank/pay', { cents }).then(said);
    expect(await pay(600)).toBe('committed');
    expect(await pay(401)).toBe('escalated medium');
    expect(await pay(150)).toBe('committed');
    expect(await pay(110)).toBe('committed');
    // 140 cents are left, and no use.
    expect(await pay(101)).toBe('escalated medium');
  });

  test('ends at its time', async () => {
    const { asked, call, approve, clock } = await standing();
    await approve(asked);
    clock.forward(5 * HOUR);
    expect(said(await call('ada', 'bank/pay', { cents: 200 }))).toBe('escalated medium');
  });

  test('ends when it is ended, and its name is not used again', async () => {
    const made = await standing();
    await made.approve(made.asked);
    await made.call('ada', 'bank/pay', { cents: 200 });
    expect(said(await made.act('end_standing', { id: 'lunch' }, 'ben'))).toMatch(/another agent/);
    expect(said(await made.act('end_standing', { id: 'lunch' }))).toBe('committed');
    expect(said(await made.call('ada', 'bank/pay', { cents: 200 }))).toBe('escalated medium');
    expect(said(await made.act('stand', terms(made), 'ada'))).toMatch(/still counted/);
  });

  test('covers neither another agent nor another tool', async () => {
    const { asked, call, approve } = await standing({ tools: ['bank/pay', 'mail/*', 'new/*'] });
    await approve(asked);
    expect(said(await call('ben', 'bank/pay', { cents: 200 }))).toBe('escalated medium');
    expect(said(await call('ada', 'mail/send'))).toBe('escalated mail');
    expect(said(await call('ada', 'new/tool'))).toBe('escalated unknown-tool');
  });

  test('covers no call that two people must approve, and no limit', async () => {
    const { asked, call, approve } = await standing({ amounts: { cents: 2_000 } });
    await approve(asked);
    expect(said(await call('ada', 'bank/pay', { cents: 1_500 }))).toBe('escalated large');
  });

  test.each<[string, object, RegExp]>([
    ['more uses', { uses: 4 }, /more than the 3/],
    ['more money', { amounts: { cents: 2_001 } }, /more than the 2000/],
    ['another unit', { amounts: { points: 1 } }, /more than the 0/],
    ['longer', { expires: '2026-03-24T09:00:00Z' }, /longer than 10 hours/],
    ['in the past', { expires: '2026-03-23T08:00:00Z' }, /expired/],
    ['every tool', { tools: ['*'] }, /names its tools/],
    ['another agent', { agent: 'ben' }, /only for itself/],
    ['no time', { expires: 'soon' }, /not an instant/],
  ])('beyond the rules is refused: %s', async (_, more, words) => {
    const { asked } = await standing(more);
    expect(asked).toMatchObject({
      ruling: 'rejected',
      reason: 'precondition_failed',
      detail: expect.stringMatching(words),
    });
  });

  test('a standing approval keeps to its budget when many calls come together', async () => {
    const { asked, call, approve, state } = await standing({ amounts: { cents: 1_000 } });
    await approve(asked);
    await Promise.all(
      [300, 400, 500, 200, 150, 450].map((cents) => call('ada', 'bank/pay', { cents })),
    );
    const spent = Object.values(state().spent).reduce((sum, { cents = 0 }) => sum + cents, 0);
    expect(spent).toBeLessThanOrEqual(1_000);
    expect(Object.keys(state().spent).length).toBeLessThanOrEqual(3);
  });
});

test('a writ for one tool grants no other', async () => {
  const { trajectory } = await desk(BANK);
  const writ = writFor('agent:carl', {
    actions: ['call'],
    scopes: ['role:agent:carl', 'tool:bank:*'],
    max_depth: 0,
  });
  const call = (server: string, agent: string) =>
    trajectory.propose({
      action: 'call',
      role: { name: 'agent', params: { agent } } as never,
      args: { server, tool: 'pay', args: { cents: 5 } },
      writ,
    });
  expect((await call('bank', 'carl')).ruling).toBe('committed');
  expect(await call('mail', 'carl')).toMatchObject({
    ruling: 'rejected',
    reason: 'invalid_authority',
  });
  expect(await call('bank', 'ada')).toMatchObject({
    ruling: 'rejected',
    reason: 'invalid_authority',
  });
});

test('an agent whose name would mix with another is refused', async () => {
  const made = await desk(BANK);
  const writ = writFor('agent:x');
  const ruling = await made.trajectory.propose({
    action: 'call',
    role: { name: 'agent', params: { agent: 'ada|2026' } } as never,
    args: { server: 'bank', tool: 'pay', args: { cents: 5 } },
    writ,
  });
  expect(said(ruling)).toMatch(/has no name/);
});
