import { expect, test } from 'vitest';
import { skewOf } from '../../../tests/support/models/write-skew.ts';
import { moderation } from './index.ts';
import { dayAt, Platform } from './testing/platform.ts';

/** An assessor strikes what it found to break the policy; that is all that is in its slice. */
function assessor(of: string) {
  return {
    role: { name: 'Assessor', params: { account: 'ana', case: of } },
    decide: (slice: any) =>
      slice.accounts.ana.assessments[of].violates
        ? { action: 'issue_strike', args: { strike: `s-${of}` } }
        : undefined,
  };
}

test('two assessors’ concurrent strikes, valid by slice, together skip a rung', async () => {
  const platform = await Platform.open();
  await platform.done('open_record', {});
  await platform.answered('c1', 'warn');
  await platform.violating('c2');
  await platform.violating('c3');
  expect(skewOf(moderation, platform.state, dayAt(0), [assessor('c2'), assessor('c3')])).toEqual({
    alone: [[], []],
    withoutKernel: [['LADDER_NOT_SKIPPED'], ['LADDER_NOT_SKIPPED']],
    withKernel: [
      ['approved', 'LADDER_NOT_SKIPPED'],
      ['approved', 'LADDER_NOT_SKIPPED'],
    ],
    broken: [],
  });
});

test('an appeal is filed while the appealed decision is being enforced', async () => {
  const platform = await Platform.open();
  await platform.done('open_record', {});
  await platform.answered('c1', 'warn');
  await platform.answered('c2', 'limit');
  const appeals = {
    role: { name: 'Appeals', params: { account: 'ana' } },
    decide: () => ({
      action: 'file_appeal',
      args: { appeal: 'a1', case: 'c2', statement: 'a joke' },
    }),
  };
  const enforcement = {
    role: { name: 'Enforcement', params: { account: 'ana', officer: 'otto' } },
    // No appeal is in its slice.
    decide: (slice: any) =>
      slice.accounts.ana.notices.c2 === undefined
        ? undefined
        : { action: 'enforce', args: { case: 'c2', until: dayAt(7) } },
  };
  expect(skewOf(moderation, platform.state, dayAt(0), [appeals, enforcement])).toEqual({
    alone: [[], []],
    // An action that is already in force can be appealed.
    withoutKernel: [['ENFORCEMENT_WAITS_FOR_APPEAL'], []],
    withKernel: [
      ['approved', 'ENFORCEMENT_WAITS_FOR_APPEAL'],
      ['approved', 'approved'],
    ],
    broken: [],
  });
});

test('an action is decided while another is: of two rungs one is wrong', async () => {
  const platform = await Platform.open();
  await platform.done('open_record', {});
  for (const [of, kind] of [
    ['c1', 'warn'],
    ['c2', 'limit'],
    ['c3', 'suspend'],
  ] as const)
    await platform.answered(of, kind);
  await platform.done('file_appeal', { appeal: 'a3', case: 'c3', statement: 'a joke' });
  await platform.approved(
    'decide_appeal',
    { appeal: 'a3', granted: true, reason: 'it was' },
    'mod:mona',
  );
  await platform.struck('c4');
  const appeals = {
    role: { name: 'Appeals', params: { account: 'ana' } },
    decide: () => ({ action: 'reinstate', args: { appeal: 'a3' } }),
  };
  const enforcement = {
    role: { name: 'Enforcement', params: { account: 'ana', officer: 'otto' } },
    // By its slice there are four strikes, none of them overturned: the last rung.
    decide: () => ({ action: 'take_action', args: { case: 'c4', strike: 's-c4', kind: 'ban' } }),
  };
  const skew = skewOf(moderation, platform.state, dayAt(0), [appeals, enforcement]);
  expect(skew.withoutKernel).toEqual([
    ['PROPORTIONATE', 'BAN_IS_HUMAN'],
    ['LADDER_WAITS_FOR_APPEAL', 'BAN_IS_HUMAN'],
  ]);
  expect(skew.withKernel).toEqual([
    ['approved', 'PROPORTIONATE'],
    ['LADDER_WAITS_FOR_APPEAL', 'approved'],
  ]);
  expect(skew.broken).toEqual([]);
});
