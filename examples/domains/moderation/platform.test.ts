import { Replayer, verifyTrajectory } from '@assize/audit';
import { describe, expect, test } from 'vitest';
import { watchedDomain } from '../../../tests/support/models/watched-domain.ts';
import { moderation, moderationInitial } from './index.ts';
import { dayAt, Platform, type Whom } from './testing/platform.ts';

async function opened(...accounts: string[]): Promise<Platform> {
  const platform = await Platform.open();
  for (const account of accounts) await platform.done('open_record', {}, { account });
  return platform;
}

describe('a ban', () => {
  async function threeRungs(whom: Whom = {}): Promise<Platform> {
    const platform = await opened('ana', 'ben');
    for (const [of, kind] of [
      ['c1', 'warn'],
      ['c2', 'limit'],
      ['c3', 'suspend'],
    ] as const)
      await platform.answered(of, kind, whom);
    await platform.struck('c4', whom);
    return platform;
  }
  const ban = { case: 'c4', strike: 's-c4', kind: 'ban' } as const;

  test('needs a human decision, and freezes only that account', async () => {
    const platform = await threeRungs();
    expect(await platform.propose('take_action', ban)).toMatchObject({
      ruling: 'escalated',
      channel: 'moderator',
      invariantId: 'BAN_IS_HUMAN',
    });
    expect(await platform.propose('expire_strike', { case: 'c1', strike: 's-c1' })).toMatchObject({
      ruling: 'frozen',
    });
    await platform.answered('c1', 'warn', { account: 'ben' });
    await platform.answered('c2', 'limit', { account: 'ben' });
    await platform.done('enforce', { case: 'c2', until: dayAt(7) }, { account: 'ben' });
    await platform.done(
      'file_appeal',
      { appeal: 'a1', case: 'c2', statement: 'no' },
      { account: 'ben' },
    );
  });

  test('a refused ban is not imposed, and an approved one names the person', async () => {
    const platform = await threeRungs();
    const first = await platform.propose('take_action', ban);
    if (first.ruling !== 'escalated') throw new Error('it must wait');
    const refused = { principal: 'mod:mona', method: 'test', reason: 'talk to them first' };
    expect(await platform.stage.trajectory.approvals.reject(first.pending, refused)).toMatchObject({
      reason: 'counselor_rejected',
    });
    expect(platform.account().actions['c4']).toBeUndefined();
    await platform.approved('take_action', ban, 'mod:mona');
    expect(platform.account().actions['c4']).toMatchObject({
      officer: 'otto',
      approved_by: 'mod:mona',
    });
    await platform.done('notify', { case: 'c4', text: 'you may appeal' });
    await platform.done('enforce', { case: 'c4' });
    expect(platform.account().standing).toEqual({ level: 'banned', case: 'c4' });
    platform.on(2_000);
    expect(await platform.propose('lift', { case: 'c4' })).toMatchObject({
      invariantId: 'TERM_SERVED',
    });
  });

  test('is appealed before another moderator; granting it restores the account', async () => {
    const platform = await threeRungs();
    await platform.approved('take_action', ban, 'mod:mona');
    await platform.done('notify', { case: 'c4', text: 'you may appeal' });
    await platform.done('enforce', { case: 'c4' });
    await platform.done('file_appeal', {
      appeal: 'a4',
      case: 'c4',
      statement: 'somebody else had my phone',
    });
    const decision = await platform.propose('decide_appeal', {
      appeal: 'a4',
      granted: true,
      reason: 'so it is',
    });
    if (decision.ruling !== 'escalated') throw new Error('it must wait');
    for (const principal of ['mod:mona', 'mod:otto'])
      await expect(
        platform.stage.trajectory.approvals.approve(decision.pending, {
          principal,
          method: 'test',
        }),
      ).rejects.toMatchObject({
        code: 'final_rule',
        evidence: { vector: [{ invariant_id: 'APPEAL_DECIDED_BY_ANOTHER' }] },
      });
    await expect(
      platform.stage.trajectory.approvals.approve(decision.pending, {
        principal: 'agent:appeals',
        method: 'test',
      }),
    ).rejects.toMatchObject({ code: 'unauthorised_counselor' });
    await platform.stage.trajectory.approvals.approve(decision.pending, {
      principal: 'mod:zoe',
      method: 'test',
    });
    await platform.done('reinstate', { appeal: 'a4' });
    const { standing, strikes, ends } = platform.account();
    expect(standing).toEqual({ level: 'good' });
    expect(ends['c4']).toMatchObject({ ground: 'granted' });
    expect(strikes['c4']?.['s-c4']).toMatchObject({ overturned: { appeal: 'a4' } });
    // The next strike is the fourth again, and not the fifth.
    await platform.struck('c5');
    expect(
      await platform.propose('take_action', { ...ban, case: 'c5', strike: 's-c5' }),
    ).toMatchObject({
      ruling: 'escalated',
    });
    expect(
      await verifyTrajectory(new Replayer(platform.stage.store), platform.stage.trajectory.id),
    ).toMatchObject({
      valid: true,
    });
  });
});

describe('a suspension', () => {
  test('ends at its time, and not before', async () => {
    const platform = await opened('ana');
    await platform.answered('c1', 'warn');
    await platform.answered('c2', 'limit');
    await platform.done('enforce', { case: 'c2', until: dayAt(7) });
    expect(platform.account().standing).toEqual({ level: 'limited', case: 'c2', until: dayAt(7) });
    platform.on(6);
    expect(await platform.propose('lift', { case: 'c2' })).toMatchObject({
      invariantId: 'TERM_SERVED',
    });
    platform.on(7);
    await platform.done('lift', { case: 'c2' });
    expect(platform.account().standing).toEqual({ level: 'good' });
  });

  test.each([
    ['c2', 'c3'],
    ['c3', 'c2'],
    ['9', '10'],
    ['10', '9'],
  ])(
    'of two alike, %s then %s, the suspension that ends last is the standing',
    async (one, other) => {
      const platform = await opened('ana');
      await platform.answered('c1', 'warn');
      await platform.answered(one, 'limit');
      await platform.done('enforce', { case: one, until: dayAt(7) });
      await platform.done('file_appeal', { appeal: 'a1', case: 'c1', statement: 'a joke' });
      await platform.approved(
        'decide_appeal',
        { appeal: 'a1', granted: true, reason: 'it was' },
        'mod:mona',
      );
      await platform.done('reinstate', { appeal: 'a1' });
      platform.on(1);
      await platform.answered(other, 'limit');
      await platform.done('enforce', { case: other, until: dayAt(8) });
      expect(platform.account().standing).toEqual({
        level: 'limited',
        case: other,
        until: dayAt(8),
      });
      platform.on(7);
      await platform.done('lift', { case: one });
      expect(platform.account().standing).toEqual({
        level: 'limited',
        case: other,
        until: dayAt(8),
      });
    },
  );

  test('the harshest measure in force is the standing', async () => {
    const platform = await opened('ana');
    await platform.answered('c1', 'warn');
    await platform.answered('c2', 'limit');
    await platform.done('enforce', { case: 'c2', until: dayAt(7) });
    await platform.answered('c3', 'suspend');
    await platform.done('enforce', { case: 'c3', until: dayAt(30) });
    platform.on(7);
    await platform.done('lift', { case: 'c2' });
    expect(platform.account().standing).toEqual({
      level: 'suspended',
      case: 'c3',
      until: dayAt(30),
    });
  });
});

test('a strike that has expired counts no more: the ladder begins again', async () => {
  const platform = await opened('ana');
  await platform.answered('c1', 'warn');
  platform.on(90);
  await platform.struck('c2');
  const action = { case: 'c2', strike: 's-c2' };
  expect(await platform.propose('take_action', { ...action, kind: 'limit' })).toMatchObject({
    invariantId: 'PROPORTIONATE',
    detail: '/accounts/ana: c2: the policy answers 1 strike(s) with warn, not limit',
  });
  await platform.done('take_action', { ...action, kind: 'warn' });
});

test('each role sees its own account, and the assessor its own case', async () => {
  const platform = await opened('ana', 'ben');
  await platform.struck('c1');
  await platform.struck('c1', { account: 'ben' });
  await platform.done('take_action', { case: 'c1', strike: 's-c1', kind: 'warn' });
  await platform.violating('c2');
  const slice = platform.stage.trajectory.slice('Assessor', { account: 'ana', case: 'c2' }) as any;
  expect(slice.accounts).toEqual({
    ana: {
      events: expect.any(Number),
      cases: { c2: expect.anything() },
      assessments: { c2: expect.anything() },
      strikes: {},
    },
  });
  for (const [role, params] of [
    ['Intake', { account: 'ana' }],
    ['Enforcement', { account: 'ana', officer: 'otto' }],
    ['Appeals', { account: 'ana' }],
  ] as const)
    expect(JSON.stringify(platform.stage.trajectory.slice(role, params))).not.toContain('"ben"');
});

test('a proposal about one account judges nothing of any other', async () => {
  const { domain, judged } = watchedDomain(moderation);
  const platform = await Platform.open(domain);
  for (let i = 0; i < 30; i++) {
    await platform.done('open_record', {}, { account: `u${i}` });
    await platform.answered('c1', 'warn', { account: `u${i}` });
  }
  judged.clear();
  await platform.answered('c2', 'limit', { account: 'u7' });
  expect([...judged]).toEqual(['u7']);
});

describe('a record that makes no sense', () => {
  test.each([
    ['open_record', {}],
    ['receive_report', { report: 'r-c1', content: 'x', clause: 'spam', reporter: 'rita' }],
    ['triage', { report: 'none', case: 'c1' }],
    ['triage', { report: 'r-c1', case: 'c1' }],
    ['assess', { violates: false, rationale: 'changed my mind' }],
    ['issue_strike', { strike: 's-c1' }],
    ['take_action', { case: 'c9', strike: 's', kind: 'warn' }],
    ['notify', { case: 'c9', text: 'hm' }],
    ['enforce', { case: 'c1' }],
    ['lift', { case: 'c1' }],
    ['expire_strike', { case: 'c1', strike: 'none' }],
    ['file_appeal', { appeal: 'a', case: 'c9', statement: 'no' }],
    ['decide_appeal', { appeal: 'none', granted: true, reason: 'so' }],
    ['reinstate', { appeal: 'none' }],
    ['close_case', { case: 'c9' }],
  ] as const)('%s %j is refused', async (action, args) => {
    const platform = await opened('ana');
    await platform.answered('c1', 'warn');
    expect(await platform.propose(action, args as never)).toMatchObject({
      reason: 'precondition_failed',
    });
  });

  test('an account without a record is not moderated', async () => {
    const platform = await opened();
    const report = { report: 'r', content: 'x', clause: 'spam', reporter: 'rita' };
    expect(await platform.propose('receive_report', report)).toMatchObject({
      reason: 'precondition_failed',
    });
    expect(platform.state).toEqual(moderationInitial());
  });
});
