/**
 * A rule table and the same policy in Cedar judge the calls of proposals: calls that an action
 * declares from the state, calls of a transaction body, and calls of an amendment.
 */

import { backtest, deepReplay } from '@assize/audit/internal/replay';
import { cedarPolicy } from '@assize/cedar';
import { MemoryStore } from '@assize/testing/memory';
import { type Policy, parseRuleTable, ruleTable, type Store } from 'assize';
import { declareTool } from 'assize/internal/effects';
import { call, defineDomain } from 'assize/internal/kernel';
import { readRow } from 'assize/internal/ledger';
import type { Ruling, Trajectory } from 'assize/internal/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payloads } from '../../../tests/support/ledger/desk.ts';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';

const PAYING = [{ tool: 'bank.*' }];
const atLeast = (min: number) => [{ tool: 'bank.*', where: [{ path: '/cents', min }] }];

const tableWith = (cap: number) =>
  ruleTable(
    parseRuleTable({
      id: 'refunds',
      otherwise: 'deny',
      rules: [
        { id: 'tools', effect: 'allow', actions: ['bank.pay'], roles: ['assize.tool'] },
        {
          id: 'pay',
          effect: 'allow',
          actions: ['refund', 'note'],
          roles: ['clerk'],
          calls: PAYING,
        },
        {
          id: 'large',
          effect: 'needs_approval',
          actions: ['refund', 'note'],
          calls: atLeast(1_000),
        },
        {
          id: 'cap',
          effect: 'deny',
          actions: ['**'],
          calls: atLeast(cap),
          because: 'That is too much.',
        },
        {
          id: 'blocked',
          effect: 'deny',
          actions: ['**'],
          calls: [{ tool: 'bank.pay', where: [{ path: '/to', is: 'eve' }] }],
        },
      ],
    }),
  );

const CONTEXT = 'context: { call: { "bank.pay": { to: String, cents: Long } } }';
const APPLIES = 'appliesTo { principal: [Principal], resource: [Trajectory]';
const SCHEMA = `
  entity Role; entity Principal in [Role]; entity Trajectory;
  action refund, note ${APPLIES}, ${CONTEXT} };
  action "bank.pay" ${APPLIES} };`;

const cedarWith = (cap: number) =>
  cedarPolicy({
    schema: SCHEMA,
    policies: `
      @id("tools") permit(principal in Role::"assize.tool", action == Action::"bank.pay", resource);
      @id("pay") permit(principal in Role::"clerk", action in [Action::"refund", Action::"note"], resource);
      @id("large") @approval("required")
      permit(principal, action in [Action::"refund", Action::"note"], resource)
      when { context.call["bank.pay"].cents >= 1000 };
      @id("cap") @because("That is too much.")
      forbid(principal, action in [Action::"refund", Action::"note"], resource)
      when { context.call["bank.pay"].cents >= ${cap} };
      @id("blocked")
      forbid(principal, action in [Action::"refund", Action::"note"], resource)
      when { context.call["bank.pay"].to == "eve" };`,
  });

const paid: string[] = [];
const pay = declareTool({
  name: 'bank.pay',
  input: z.strictObject({ to: z.string(), cents: z.int() }),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank:{to}'],
  execute: ({ to, cents }) => {
    paid.push(`${cents} to ${to}`);
    return null;
  },
  compensate: () => ({ undone: 'all' }),
});

/** The arguments of a refund have no amount. It follows from the state. */
const shop = defineDomain({
  name: 'shop',
  version: '1',
  state: z.object({
    prices: z.record(z.string(), z.int()),
    refunded: z.record(z.string(), z.int()),
    notes: z.int(),
  }),
  initial: { prices: { cup: 300, desk: 1_200, bike: 1_500, car: 9_000 }, refunded: {}, notes: 0 },
  unjudgedCalls: 'allow',
  processes: { work: { reads: ['/prices/*'], writes: ['/refunded/*', '/notes'] } },
  roles: { clerk: { processes: ['work'] } },
  counselors: { manager: (principal) => principal === 'manager' },
  actions: {
    refund: {
      process: 'work',
      args: z.strictObject({ item: z.string(), to: z.string(), half: z.boolean().optional() }),
      apply: (state, { item, half = false }) => {
        state.refunded[item] = (state.prices[item] ?? 0) / (half ? 2 : 1);
      },
      calls: (state, { item, to }) => [call(pay, { to, cents: state.refunded[item] ?? 0 })],
    },
    note: {
      process: 'work',
      args: z.strictObject({}),
      apply: (state) => {
        state.notes += 1;
      },
    },
  },
  invariants: () => [],
});

const writ = writFor('agent:a', { trajectory: 't' });
const manager = { principal: 'manager', method: 'desk' };
const OPTIONS = { domains: [shop as never] };

let store: Store;
let trajectory: Trajectory;

beforeEach(() => {
  paid.length = 0;
  store = new MemoryStore();
});
afterEach(() => store.close());

const refund = (item: string, to = 'ada'): Promise<Ruling> =>
  trajectory.propose({ action: 'refund', role: 'clerk', args: { item, to }, writ });

async function pendingRefund(item: string): Promise<string> {
  const ruling = await refund(item);
  if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
  return ruling.pending;
}

function decisionIn(ruling: Ruling): unknown {
  if (!('entry' in ruling)) throw new Error(JSON.stringify(ruling));
  const { policy } = readRow(ruling.entry).payload as {
    policy?: { decision: string; rule?: string };
  };
  return policy && `${policy.decision} ${policy.rule}`;
}

describe.each([
  ['a rule table', async (cap: number) => tableWith(cap)],
  ['Cedar', cedarWith],
])('%s', (_name, policyWith) => {
  let policy: Policy;

  beforeEach(async () => {
    policy = await policyWith(5_000);
    const assize = runtimeOver(store, [shop], { tools: [pay], policy });
    trajectory = (await assize.create(shop, { trajectoryId: 't' })) as unknown as Trajectory;
  });

  test('denies an action for the input of its call, and nothing is paid', async () => {
    for (const [ruling, rule, detail] of [
      [await refund('car'), 'cap', 'That is too much.'],
      [await refund('cup', 'eve'), 'blocked', 'blocked applies.'],
    ] as const) {
      expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'policy_denied' });
      expect(ruling).toMatchObject({ detail: expect.stringContaining(detail) });
      expect(decisionIn(ruling)).toBe(`deny ${rule}`);
    }
    const allowed = await refund('cup');
    expect([allowed.ruling, decisionIn(allowed)]).toEqual(['committed', 'allow pay']);
    expect(paid).toEqual(['300 to ada']);
    expect(trajectory.state()).toMatchObject({ refunded: { cup: 300 } });
  });

  test('denies a transaction body for the input of its call', async () => {
    const body = (cents: number) =>
      trajectory.transaction({ writ, writes: ['bank:*'] }, async (tx) => {
        await tx.call('bank.pay', { to: 'ada', cents });
        tx.propose({ action: 'note', role: 'clerk', args: {} });
      });
    expect((await body(5_000)).ruling).toMatchObject({
      reason: 'policy_denied',
      detail: 'That is too much.',
    });
    expect((await body(20)).ruling).toMatchObject({ ruling: 'committed' });
    expect(paid).toEqual(['20 to ada']);
  });

  test('demands an approval for the call, and the approved call is made', async () => {
    const pending = await pendingRefund('desk');
    expect(paid).toEqual([]);
    expect(decisionIn(await trajectory.approvals.approve(pending, manager))).toBe(
      'needs_approval large',
    );
    expect(paid).toEqual(['1200 to ada']);
  });

  test('judges the calls of an amendment', async () => {
    const pending = await pendingRefund('bike');
    const amend = (args: object) =>
      trajectory.approvals.approve(pending, { ...manager, args: args as never });
    for (const args of [
      { item: 'car', to: 'ada' },
      { item: 'bike', to: 'eve' },
    ]) {
      await expect(amend(args)).rejects.toMatchObject({
        code: 'invalid_amendment',
        message: expect.stringContaining('policy_denied'),
      });
    }
    expect(paid).toEqual([]);
    expect(decisionIn(await amend({ item: 'bike', to: 'ada', half: true }))).toBe('allow pay');
    expect(paid).toEqual(['750 to ada']);
  });

  test('is recorded by its digest, and asked with the calls by each reader', async () => {
    await refund('cup');
    await refund('car');
    await trajectory.approvals.approve(await pendingRefund('desk'), manager);
    await trajectory.approvals.approve(await pendingRefund('bike'), {
      ...manager,
      args: { item: 'bike', to: 'ada', half: true },
    });
    const entries = (await payloads(store, 't')) as { kind: string; policy_hash?: string }[];
    expect(entries[0]?.policy_hash).toBe(policy.digest);
    const kindsOf = (found: readonly { seq: number }[]) =>
      found.map(({ seq }) => entries[seq]?.kind);

    const again = await policyWith(5_000);
    const deep = await deepReplay(store, 't', { ...OPTIONS, policy: again });
    expect(deep).toMatchObject({ same: true, differences: [] });
    expect(deep.taken_as_recorded.policy).toBeUndefined();
    // The same digest, but without the calls.
    const blind: Policy = { ...again, evaluate: ({ calls: _, ...query }) => again.evaluate(query) };
    const { differences } = await deepReplay(store, 't', { ...OPTIONS, policy: blind });
    const judged = ['commit', 'rejection', 'pending_approval', 'pending_approval', 'commit'];
    expect(kindsOf(differences)).toEqual(judged);

    const tried = await backtest(store, 't', { ...OPTIONS, policy: again });
    expect(tried).toMatchObject({ judged: 4, same: 4, differences: [] });
    const stricter = await policyWith(1_200);
    expect(stricter.digest).not.toBe(policy.digest);
    const now = { ruling: 'rejected', reason: 'policy_denied', rule: 'cap' };
    const { differences: changed } = await backtest(store, 't', { ...OPTIONS, policy: stricter });
    expect(changed).toMatchObject([{ now }, { now }]);
    expect(kindsOf(changed)).toEqual(['pending_approval', 'pending_approval']);
  });
});
