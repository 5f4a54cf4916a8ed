/** Overrides by several approvers, final rules, counselors that know the proposal, and marks. */

import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { isAssizeError } from '#base';
import { type Domain, defineDomain, escalate, pass } from '#kernel';
import type { CommitPayload } from '#ledger';
import { type ClaimTerms, claimsOf } from '../../../../tests/support/ledger/claims.ts';
import { payloads } from '../../../../tests/support/ledger/desk.ts';
import { doctor } from '../../../../tests/support/ledger/multi-approval.ts';
import { intent, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import type { Trajectory } from './trajectory.ts';

const CLAIMANT = 'dr-claimant';
const asker = writFor('agent');

async function claimed(domain: Domain<any, any>, writ = asker) {
  const store = new MemoryStore();
  const trajectory = await runtimeOver(store, [domain]).create(domain, { trajectoryId: 't' });
  const claim = intent('claim', { euros: 7, claimant: CLAIMANT }, writ, { role: 'clerk' } as never);
  const ruling = await trajectory.propose(claim);
  if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
  return { store, trajectory, pending: ruling.pending };
}

/** The answers to approvals in turn: ruling or error code. A name with `+` overrides. */
async function approvedBy(
  trajectory: Trajectory,
  first: string,
  approvers: readonly string[],
): Promise<string[]> {
  const said: string[] = [];
  let id = first;
  for (const one of approvers) {
    const by = { principal: one.replace('+', ''), method: 'test', override: one.endsWith('+') };
    const answer = await trajectory.approvals.approve(id, by).catch((error: unknown) => {
      if (!isAssizeError(error)) throw error;
      return error;
    });
    said.push(isAssizeError(answer) ? answer.code : answer.ruling);
    if (!isAssizeError(answer) && answer.ruling === 'escalated') id = answer.pending;
  }
  return said;
}

const C = CLAIMANT;
const TABLE: readonly (readonly [approvers: string, answers: string])[] = [
  ['dr-a dr-b', 'escalated committed'],
  ['dr-a+ dr-b', 'escalated committed'],
  ['dr-a dr-b+', 'escalated committed'],
  ['dr-a+ dr-b+', 'escalated committed'],
  [`${C} dr-b`, 'override_needed escalated'],
  [`${C}+ dr-b`, 'escalated override_needed'],
  [`${C}+ dr-b+`, 'escalated committed'],
  [`${C}+ dr-b dr-d+`, 'escalated override_needed committed'],
  [`dr-a ${C}`, 'escalated override_needed'],
  [`dr-a ${C}+`, 'escalated override_needed'],
  [`dr-a+ ${C}`, 'escalated override_needed'],
  [`dr-a+ ${C}+`, 'escalated override_needed'],
  [`dr-a ${C}+ dr-b`, 'escalated override_needed committed'],
  [`${C}+ ${C}+`, 'escalated already_approved'],
];
const TABLE_OF_THREE: readonly (readonly [approvers: string, answers: string])[] = [
  ['dr-a dr-b dr-d', 'escalated escalated committed'],
  [`${C}+ dr-b dr-d`, 'escalated override_needed override_needed'],
  [`${C}+ dr-b+ dr-d`, 'escalated escalated override_needed'],
  [`${C}+ dr-b dr-d+`, 'escalated override_needed escalated'],
  [`${C}+ dr-b+ dr-d+`, 'escalated escalated committed'],
  [`dr-a ${C}+ dr-d+`, 'escalated override_needed escalated'],
  [`dr-a+ ${C}+ dr-d+`, 'escalated override_needed escalated'],
  [`dr-a dr-b ${C}+`, 'escalated escalated override_needed'],
  [`dr-a+ dr-b+ ${C}+`, 'escalated escalated override_needed'],
];

describe.each(['last', 'push'] as const)('an approval by the claimant, marked with %s', (mark) => {
  const termsOf = (approvals: number): ClaimTerms => ({
    approvals,
    names: mark === 'push' ? approvals : 1,
    mark,
  });

  test.each([
    ...TABLE.map((row) => [2, ...row] as const),
    ...TABLE_OF_THREE.map((row) => [3, ...row] as const),
  ])('of %i: %s: %s', async (approvals, approvers, answers) => {
    const domain = claimsOf(termsOf(approvals));
    const { store, trajectory, pending } = await claimed(domain);
    expect(await approvedBy(trajectory, pending, approvers.split(' '))).toEqual(answers.split(' '));
    expect((await deepReplay(store, 't', { domains: [domain] })).differences).toEqual([]);
  });

  test('stands in the commit with its rule, for every approver', async () => {
    const { store, trajectory, pending } = await claimed(claimsOf(termsOf(2)));
    await approvedBy(trajectory, pending, [`${C}+`, 'dr-b+']);
    const commit = (await payloads(store, 't')).at(-1) as CommitPayload;
    const overridden = [
      { invariant_id: 'NO_SELF', result: 'reject', detail: `${C} approves the own claim` },
    ];
    expect(commit.approved_by).toMatchObject([{ principal: C, override: true, overridden }]);
    expect(commit.counselor).toMatchObject({ principal: 'dr-b', override: true, overridden });
  });
});

test('a refusal names the rule and the former override, and invites to none', async () => {
  const { trajectory, pending } = await claimed(claimsOf({ approvals: 2, names: 1, mark: 'last' }));
  const attempt = trajectory.approvals.approve(pending, { principal: C, method: 'test' });
  await expect(attempt).rejects.toThrow(
    /does not pass NO_SELF: .*Reject the proposal, or correct onApprove/,
  );
  const first = await trajectory.approvals.approve(pending, {
    principal: C,
    method: 'test',
    override: true,
  });
  if (first.ruling !== 'escalated') throw new Error(first.ruling);
  const second = trajectory.approvals.approve(first.pending, doctor('b'));
  await expect(second).rejects.toThrow(
    /dr-claimant approved although the proposal did not pass NO_SELF/,
  );
  await expect(second).rejects.toMatchObject({
    evidence: { vector: [{ invariant_id: 'NO_SELF' }] },
  });
});

describe('the marks of several approvers', () => {
  test.each([2, 3, 8])(
    'are all in the state, in order, with their times: %i',
    async (approvals) => {
      const domain = claimsOf({ approvals });
      const { store, trajectory, pending } = await claimed(domain);
      const names = Array.from({ length: approvals }, (_, i) => `dr-${i}`);
      expect((await approvedBy(trajectory, pending, names)).at(-1)).toBe('committed');
      expect(trajectory.state()).toMatchObject({ approvers: names });
      const [, submitted] = await payloads(store, 't');
      const placeholders = names.map((_, i) =>
        i === approvals - 1 ? '$counselor' : `$counselor-${i + 1}`,
      );
      const { approval } = (
        submitted as unknown as { proposal: { approval: { value: unknown }[] } }
      ).proposal;
      expect(approval.map(({ value }) => value)).toEqual(placeholders);
      expect((await deepReplay(store, 't', { domains: [domain] })).differences).toEqual([]);
    },
  );

  test('do not satisfy a rule that wants more names than approvals', async () => {
    const { trajectory, pending } = await claimed(claimsOf({ approvals: 2, names: 3 }));
    expect(await approvedBy(trajectory, pending, ['dr-a', 'dr-a+', 'dr-b', 'dr-b+'])).toEqual([
      ...['override_needed', 'escalated', 'override_needed', 'committed'],
    ]);
  });
});

describe('a final rule, and a rejection by a rule that is not overridable,', () => {
  const several = [1, 2, 3].flatMap((approvals): ClaimTerms[] => [
    { approvals, final: 'NO_SELF' },
    { approvals, overridable: false },
  ]);
  test.each(several)('is overridden by no approver: %j', async ({ approvals, ...terms }) => {
    const { store, trajectory, pending } = await claimed(claimsOf({ approvals, ...terms }));
    const { length } = await payloads(store, 't');
    const attempt = trajectory.approvals.approve(pending, {
      principal: C,
      method: 'test',
      override: true,
    });
    await expect(attempt).rejects.toMatchObject({
      code: 'final_rule',
      evidence: { vector: [{ invariant_id: 'NO_SELF' }] },
    });
    await expect(attempt).rejects.toThrow(/No approval overrides NO_SELF/);
    expect(await payloads(store, 't')).toHaveLength(length);
    const names = Array.from({ length: approvals }, (_, i) => `dr-${i}`);
    expect((await approvedBy(trajectory, pending, names)).at(-1)).toBe('committed');
  });

  test('is not overridden by a replacement', async () => {
    const { trajectory, pending } = await claimed(claimsOf({ approvals: 1, final: 'NO_SELF' }));
    const replacement = [{ op: 'replace', path: '/approvers', value: [''] }] as const;
    const attempt = trajectory.approvals.approve(
      pending,
      doctor('a', { override: true, replacement }),
    );
    await expect(attempt).rejects.toMatchObject({ code: 'final_rule' });
  });

  test('is not overridden where its violation appears between approvals', async () => {
    const { trajectory, pending } = await claimed(claimsOf({ approvals: 3, final: 'NO_SELF' }));
    expect(await approvedBy(trajectory, pending, ['dr-a', `${C}+`, 'dr-b', `${C}+`])).toEqual([
      ...['escalated', 'final_rule', 'escalated', 'final_rule'],
    ]);
  });

  test('lets no trajectory begin with a violation, override or not', async () => {
    const domain = claimsOf({ approvals: 1, final: 'LEVEL' });
    const initial = { euros: 0, claimant: 'x', approvers: [], loads: { u: 9 } };
    for (const override of [true, false]) {
      const creating = runtimeOver(new MemoryStore(), [domain]).create(domain, {
        initial,
        override,
      } as never);
      await expect(creating).rejects.toMatchObject({
        code: 'invalid_state',
        message: expect.stringContaining('The state violates'),
      });
    }
  });

  test('is part of the domain’s hash, if it is declared', () => {
    const hashOf = (options: object): string => {
      const of = {
        ...claimsOf({ approvals: 1, overridable: false }).declared,
        version: '1',
      } as any;
      const rules = (given: any) =>
        of.invariants(given).map((rule: any) => ({ ...rule, ...options }));
      return defineDomain({ ...of, invariants: rules }).hash;
    };
    expect(hashOf({ final: false })).toBe(hashOf({}));
    expect(hashOf({ final: true })).not.toBe(hashOf({}));
    expect(() => hashOf({ final: 'yes' })).toThrow('final');
    expect(new Set([{}, { final: true }, { overridable: true }].map(hashOf)).size).toBe(3);
    expect(hashOf({ overridable: false })).toBe(hashOf({}));
    expect(() => hashOf({ final: true, overridable: true })).toThrow('both final and overridable');
  });
});

test('the requester and the grantors never approve, in any form of their names', async () => {
  for (const subject of ['dr-zo\u00eb', 'dr-zoe\u0308', 'dr-zo\u00eb\u200b']) {
    const { trajectory, pending } = await claimed(claimsOf({ approvals: 2 }), writFor(subject));
    for (const name of ['dr-zo\u00eb', 'dr-zoe\u0308']) {
      expect(await approvedBy(trajectory, pending, [name, `${name}+`])).toEqual([
        ...['unauthorised_counselor', 'unauthorised_counselor'],
      ]);
    }
    expect(await approvedBy(trajectory, pending, ['dr-a', 'dr-zo\u00eb+'])).toEqual([
      ...['escalated', 'unauthorised_counselor'],
    ]);
  }
});

describe('a counselor predicate', () => {
  const seen: unknown[] = [];
  const named = (counselors: object): Domain<any, any> =>
    defineDomain({ ...(claimsOf({ approvals: 2 }).declared as any), counselors });
  const independent = named({
    doctor: (principal: string, context: any) => {
      seen.push(context);
      return principal.startsWith('dr-') && principal !== context.proposal.args.claimant;
    },
  });

  test('knows the proposal and the requester, to approve and to reject', async () => {
    const { store, trajectory, pending } = await claimed(independent);
    expect(await approvedBy(trajectory, pending, [C, `${C}+`])).toEqual(
      Array(2).fill('unauthorised_counselor'),
    );
    const rejecting = trajectory.approvals.reject(pending, {
      principal: C,
      method: 'test',
      reason: 'no',
    });
    await expect(rejecting).rejects.toMatchObject({ code: 'unauthorised_counselor' });
    expect(await approvedBy(trajectory, pending, ['dr-a', `${C}+`, 'dr-b'])).toEqual([
      ...['escalated', 'unauthorised_counselor', 'committed'],
    ]);
    expect(seen.at(-1)).toEqual({
      proposal: {
        action: 'claim',
        role: { name: 'clerk', params: {} },
        args: { euros: 7, claimant: CLAIMANT },
      },
      requester: 'agent',
    });
    expect((await deepReplay(store, 't', { domains: [independent] })).differences).toEqual([]);
  });

  test('is called again by deep replay, and another answer is found', async () => {
    const { store, trajectory, pending } = await claimed(independent);
    await approvedBy(trajectory, pending, ['dr-a', 'dr-b']);
    const stricter = named({
      doctor: (principal: string, { proposal }: any) => proposal.args.euros < 7 && principal,
    });
    const domains = [{ ...stricter, hash: independent.hash } as Domain];
    const { differences } = await deepReplay(store, 't', { domains });
    expect(differences.map(({ what }) => what)).toEqual(['counselor', 'counselor']);
  });

  test('cannot change the proposal, and one that throws names no counselor', async () => {
    const greedy = named({
      doctor: (_: string, { proposal }: any) => {
        proposal.args.euros = 1_000_000;
        return true;
      },
    });
    const { trajectory, pending } = await claimed(greedy);
    const attempt = trajectory.approvals.approve(pending, doctor('a'));
    await expect(attempt).rejects.toMatchObject({ code: 'unauthorised_counselor' });
    await expect(attempt).rejects.toThrow(/The counselor predicate doctor failed for dr-a/);
    expect(trajectory.approvals.pending()[0]?.payload.proposal.action.args).toMatchObject({
      euros: 7,
    });
  });

  test('may take the principal alone, and only true passes', async () => {
    for (const [said, answer] of [
      [true, 'escalated'],
      ['yes', 'unauthorised_counselor'],
      [Promise.resolve(true), 'unauthorised_counselor'],
    ] as const) {
      const { trajectory, pending } = await claimed(named({ doctor: () => said }));
      expect(await approvedBy(trajectory, pending, ['dr-a'])).toEqual([answer]);
    }
  });
});

/** An escalating rule that reads one name, and no rule about the claimant. */
test('an escalation by the first name does not depend on missing approvals', async () => {
  const spec = claimsOf({ approvals: 2, mark: 'last' }).declared as any;
  const domain = defineDomain({
    ...spec,
    state: spec.state as z.ZodType,
    invariants: (rules: any) => [
      rules.invariant(
        'BY_ANOTHER',
        ['/euros', '/approvers', '/claimant'],
        ({ euros, approvers: [name], claimant }: any) =>
          euros === 0 || (name !== undefined && name !== claimant)
            ? pass
            : escalate('by another doctor'),
        {
          approvals: 2,
          onApprove: (state: any, { counselor }: any) => {
            state.approvers = [counselor];
          },
        },
      ),
    ],
  });
  const { store, trajectory, pending } = await claimed(domain as Domain<any, any>);
  expect(await approvedBy(trajectory, pending, [C, `${C}+`, 'dr-b', 'dr-b+'])).toEqual([
    ...['override_needed', 'escalated', 'override_needed', 'committed'],
  ]);
  expect((await payloads(store, 't')).at(-1)).toMatchObject({
    counselor: { overridden: [{ invariant_id: 'BY_ANOTHER' }] },
  });
});
