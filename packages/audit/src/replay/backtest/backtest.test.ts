import { MemoryStore } from '@assize/testing/memory';
import { attenuate, type Policy, type Rule, ruleTable } from 'assize/internal/authority';
import { type Domain, defineDomain, escalate, pass, reject } from 'assize/internal/kernel';
import type { LedgerStore } from 'assize/internal/ledger';
import { createOracle, fixedClock } from 'assize/internal/oracle';
import type { Ruling } from 'assize/internal/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ward } from '../../../../../tests/support/clinic/ward.ts';
import {
  granted,
  helper,
  lead,
  pay,
  task,
} from '../../../../../tests/support/ledger/delegations.ts';
import { deskOf } from '../../../../../tests/support/ledger/desk.ts';
import { severalOf } from '../../../../../tests/support/ledger/multi-approval.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  START,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { type BacktestOptions, type BacktestReport, backtest, backtestStore } from './index.ts';

const desk = deskOf('footprint');
const worker = writFor('agent');
const DOCTOR = { principal: 'dr-who', method: 'test' };

function table(...rules: (Partial<Rule> & Pick<Rule, 'effect'>)[]): Policy {
  const full = rules.map((rule, i) => ({ id: `r${i}`, actions: ['**'], ...rule }));
  return ruleTable({ id: 'table', otherwise: 'allow', rules: full });
}

/** The desk with a change. */
function changed(change: (declared: any) => object): Domain {
  const declared = desk.declared as any;
  return defineDomain<any, any>({ ...declared, ...change(declared), version: '2' });
}

async function begun(options: Parameters<typeof runtimeOver>[2] = {}) {
  const store = new MemoryStore();
  const clock = new HandClock();
  const assize = runtimeOver(store, [desk], { ...options, ports: { clock, ...options.ports } });
  const t = await assize.create(desk, { trajectoryId: 't', writs: [worker] });
  const propose = (action: string, args: unknown, rest = {}) =>
    t.propose(intent(action, args, worker, rest));
  return { store, clock, assize, t, propose };
}

async function pendingOf(answer: Promise<Ruling>): Promise<string> {
  const ruling = await answer;
  if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
  return ruling.pending;
}

/**
 * 1 add 4; 2 add 9 refused; 3 add 5; 4 ask, 5 approved; 6 ask, 7 the doctor rejects; 8 an unknown
 * tool.
 */
async function story(options: Parameters<typeof runtimeOver>[2] = {}) {
  const made = await begun(options);
  const { t, propose } = made;
  await propose('add', { by: 4 });
  await propose('add', { by: 9 });
  await propose('add', { by: 5 });
  await t.approvals.approve(await pendingOf(propose('ask', { amount: 1 })), DOCTOR);
  await t.approvals.reject(await pendingOf(propose('ask', { amount: 2 })), {
    ...DOCTOR,
    reason: 'no',
  });
  await propose('stir', {});
  return made;
}

const found = ({ differences }: BacktestReport): string[] =>
  differences.map(({ seq, action, recorded, now }) => {
    const by = (ruled: typeof now): string =>
      `${ruled['ruling']} ${ruled['invariant_id'] ?? ruled['rule'] ?? ruled['reason'] ?? ''}`.trim();
    return `${seq} ${action}: ${by(recorded)}, ${by(now)}`;
  });

async function tried(options: Partial<BacktestOptions>): Promise<BacktestReport> {
  const { store } = await story();
  return backtest(store, 't', { domains: [desk], ...options });
}

describe('another policy', () => {
  test('only proposals of the range are compared', async () => {
    const report = await tried({ policy: table({ effect: 'deny' }), fromSeq: 2, toSeq: 4 });
    expect(report.differences.map(({ seq }) => seq)).toEqual([2, 3, 4]);
    expect(report).toMatchObject({ judged: 3, same: 0, difference_count: 3, resolutions: 0 });
  });

  test('is queried for each proposal that reaches it; reject beats escalation', async () => {
    const policy = table(
      { effect: 'needs_approval', actions: ['add'] },
      { effect: 'deny', actions: ['ask'], because: 'No.' },
    );
    const report = await tried({ policy });
    expect(found(report)).toEqual([
      '1 add: committed, escalated r0',
      '3 add: committed, escalated r0',
      '4 ask: escalated ASKED_IS_APPROVED, rejected r1',
      '6 ask: escalated ASKED_IS_APPROVED, rejected r1',
    ]);
    expect(report).toEqual({
      trajectory_id: 't',
      domain: { name: 'desk', version: '1', hash: desk.hash },
      recorded_domain: { name: 'desk', version: '1', hash: desk.hash },
      policy: { id: 'table', digest: policy.digest },
      entries: 9,
      judged: 6,
      same: 2,
      changes: { committed_to_escalated: 2, escalated_to_rejected: 2 },
      not_judgeable: {},
      resolutions: 2,
      moot_resolutions: 2,
      assumed: 0,
      difference_count: 4,
      differences: expect.any(Array),
    });
    expect(report.differences[2]).toMatchObject({
      trajectory_id: 't',
      entry_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      now: { reason: 'policy_denied', detail: 'No.' },
      resolved: { seq: 5, ruling: 'committed' },
    });
    expect(report.differences[3]).toMatchObject({ resolved: { seq: 7, ruling: 'rejected' } });
  });

  test('lets recorded denials through to all remaining checks', async () => {
    const { store } = await story({ policy: table({ effect: 'deny', actions: ['add', 'stir'] }) });
    const report = await backtest(store, 't', { domains: [desk], policy: table() });
    expect(found(report)).toEqual([
      '1 add: rejected r0, committed',
      '2 add: rejected r0, committed',
      '3 add: rejected r0, committed',
    ]);
    // The second would fail after the first; but it is adjudicated on the record.
    expect(report.changes).toEqual({ rejected_to_committed: 3 });
  });

  test('that fails is a denial, and is not asked without being given', async () => {
    const policy: Policy = {
      id: 'failing',
      digest: 'f'.repeat(64),
      evaluate: () => {
        throw new Error('down');
      },
    };
    const report = await tried({ policy });
    expect(report.differences).toHaveLength(5);
    expect(report.differences[0]).toMatchObject({
      now: { reason: 'policy_denied', detail: 'The policy failed: down' },
    });
  });

  test('receives the recorded query: principal, writ and time', async () => {
    const { clock, store, propose } = await begun();
    clock.forward(5_000);
    await propose('add', { by: 1 });
    const asked: unknown[] = [];
    const policy: Policy = {
      id: 'p',
      digest: 'a'.repeat(64),
      evaluate: (query) => {
        asked.push(query);
        return { decision: 'allow', reasons: [], errors: [] };
      },
    };
    await runtimeOver(store, [desk], { policy, ports: { clock } })
      .open('t')
      .then((t) => t.propose(intent('add', { by: 2 }, worker)));
    await backtest(store, 't', { domains: [desk], policy });
    expect(asked).toHaveLength(3);
    expect(asked[2]).toEqual(asked[0]);
    expect(asked[1]).toMatchObject({
      principal: 'agent',
      action: 'add',
      args: { by: 1 },
      at: '2026-03-23T09:00:05.000000Z',
      trajectory_id: 't',
    });
  });
});

describe('another domain', () => {
  const rules = (change: (rules: any[]) => any[]) => (declared: any) => ({
    invariants: change(desk.rules.map(({ spec }) => spec)),
    actions: declared.actions,
  });
  const most = (limit: number) =>
    changed((declared) => ({
      ...declared,
      invariants: ({ invariant }: any) => [
        invariant('TEN_AT_MOST', ['/n'], ({ n }: any) => (n <= limit ? pass : reject(`${n}`))),
        ...desk.rules.map(({ spec }) => spec).slice(1),
      ],
    }));

  test('without a rule, with a stricter one, and with a new one', async () => {
    expect(found(await tried({ instead: [changed(rules((all) => all.slice(1)))] }))).toEqual([
      '2 add: rejected TEN_AT_MOST, committed',
    ]);
    // A violation found only by the stricter rule does not count against entries that do not touch
    // it.
    expect(found(await tried({ instead: [most(3)] }))).toEqual([
      '1 add: committed, rejected TEN_AT_MOST',
      '3 add: committed, rejected TEN_AT_MOST',
    ]);
    const added = changed((declared) => ({
      ...declared,
      invariants: ({ invariant }: any) => [
        ...desk.rules.map(({ spec }) => spec),
        invariant('FOUR_IS_MUCH', ['/n'], ({ n }: any) => (n < 4 ? pass : escalate('much'))),
      ],
    }));
    const report = await tried({ instead: [added] });
    expect(found(report)).toEqual([
      '1 add: committed, escalated FOUR_IS_MUCH',
      '3 add: committed, escalated FOUR_IS_MUCH',
    ]);
    expect(report).toMatchObject({ domain: { version: '2' }, recorded_domain: { version: '1' } });
    expect(report.policy).toBeUndefined();
  });

  test('that knows a formerly unknown tool assumes its grant and reports this', async () => {
    const stirring = changed((declared) => ({
      actions: {
        ...declared.actions,
        stir: { process: 'counting', args: z.object({}), apply: () => {} },
      },
    }));
    const report = await tried({ instead: [stirring] });
    expect(report.differences).toMatchObject([
      {
        seq: 8,
        action: 'stir',
        recorded: { reason: 'unknown_tool' },
        now: { ruling: 'committed' },
        writ_assumed: true,
      },
    ]);
    expect(report.assumed).toBe(1);
  });

  test('with changed actions is checked on the recorded changes, not on its own', async () => {
    const doubling = changed((declared) => ({
      actions: {
        ...declared.actions,
        add: {
          ...declared.actions.add,
          apply: (state: { n: number }, { by }: { by: number }) => {
            state.n += by === 4 ? 8 : by;
          },
        },
      },
    }));
    expect(found(await tried({ instead: [doubling] }))).toEqual([]);
  });

  test('the recorded decisions of a policy stand', async () => {
    const { store } = await story({
      policy: table(
        { effect: 'deny', actions: ['add'] },
        { effect: 'needs_approval', actions: ['ask'] },
      ),
    });
    expect(found(await backtest(store, 't', { domains: [], instead: [most(0)] }))).toEqual([]);
  });

  test('adjudicates trajectories of its name; others need the recorded domain', async () => {
    await expect(tried({ domains: [] })).rejects.toMatchObject({ code: 'domain_mismatch' });
    await expect(tried({ domains: [], instead: [ward] })).rejects.toMatchObject({
      code: 'domain_mismatch',
    });
    expect(found(await tried({ instead: [ward] }))).toEqual([]);
  });
});

describe('the required approvers', () => {
  const DOCTORS = { channel: 'md', approvals: 1 };
  async function asked(domain: Domain) {
    const store = new MemoryStore();
    const t = await runtimeOver(store, [domain]).create(domain, {
      trajectoryId: 't',
      writs: [worker],
    });
    await t.approvals.approve(
      await pendingOf(t.propose(intent('ask', { amount: 1 }, worker))),
      DOCTOR,
    );
    return store;
  }

  test('more or other approvers make another ruling; resolutions still apply', async () => {
    const one = severalOf(1);
    const store = await asked(one);
    expect((await backtest(store, 't', { domains: [one] })).differences).toEqual([]);
    const report = await backtest(store, 't', { domains: [], instead: [severalOf(3)] });
    expect(report).toMatchObject({
      same: 0,
      changes: { escalated_to_escalated: 1 },
      moot_resolutions: 0,
    });
    expect(report.differences).toMatchObject([
      {
        seq: 1,
        recorded: { ruling: 'escalated', ...DOCTORS },
        now: { ruling: 'escalated', ...DOCTORS, approvals: 3 },
      },
    ]);
    const others = defineDomain<any, any>({
      ...one.declared,
      counselors: { ...one.declared.counselors, nurse: () => true },
      invariants: one.rules.map(({ spec }) =>
        spec.id === 'ASKED_IS_APPROVED' ? { ...spec, channel: 'nurse' } : spec,
      ),
    });
    const elsewhere = await backtest(store, 't', { domains: [], instead: [others] });
    expect(elsewhere.differences).toMatchObject([
      { recorded: DOCTORS, now: { channel: 'nurse', approvals: 1 } },
    ]);
  });

  test('are reported if an approval became necessary or unnecessary', async () => {
    const report = await tried({ policy: table({ effect: 'needs_approval', actions: ['add'] }) });
    expect(report.differences[0]).toMatchObject({
      recorded: { ruling: 'committed' },
      now: { approvals: 1, channel: expect.any(String) },
    });
    expect(report.differences[0]?.recorded).toEqual({ ruling: 'committed' });
    const denied = await tried({ policy: table({ effect: 'deny', actions: ['ask'] }) });
    expect(denied.differences[0]).toMatchObject({ recorded: DOCTORS, now: { ruling: 'rejected' } });
    expect(denied.differences[0]?.now).not.toHaveProperty('channel');
  });
});

describe('a revocation', () => {
  const below = attenuate(granted, { subject: helper.publicKey, nonce: 'a' }, lead.privateKey);
  const withLeave = writFor('careful', {
    actions: ['assize.revoke'],
    scopes: ['writ:**'],
    require_approval: ['assize.revoke'],
  });
  const officer = writFor('officer', { actions: ['assize.revoke'], scopes: ['writ:**'] });
  const theWrit = { writ: below, chain: [granted] };

  /**
   * For `t`: 1 a use; 2 and 3 refused, for a descendant and for lack of an approval; 4 done; 5
   * attempted by an agent, by name.
   */
  async function revoked(policy?: Policy) {
    const store = new MemoryStore();
    const t = await runtimeOver(store, [desk], policy && { policy }).create(desk, {
      trajectoryId: 't',
      writs: [granted, worker, officer, withLeave],
    });
    await t.propose(pay(1, theWrit));
    await t.writs.revoke({ writ: granted, reason: 'out of spite', by: theWrit });
    await t.writs.revoke({ writ: theWrit, reason: 'lost', by: withLeave });
    await t.writs.revoke({ writ: theWrit, reason: 'lost', by: officer });
    await t.propose(intent('assize.revoke', { writ: 'a'.repeat(64), reason: 'x' }, worker));
    return { store, t };
  }
  const onRevoking = (effect: Rule['effect']): Policy =>
    table({ effect, actions: ['assize.revoke'], because: 'So.' });
  const allowed = onRevoking('allow');

  test('is judged by writ and policy alone, done or refused', async () => {
    for (const policy of [undefined, allowed]) {
      const { store } = await revoked(policy);
      for (const tryPolicy of [undefined, allowed]) {
        const report = await backtest(store, 't', {
          domains: [desk],
          ...(tryPolicy && { policy: tryPolicy }),
        });
        expect(found(report)).toEqual([]);
        expect(report).toMatchObject({ entries: 6, judged: 5, same: 5, not_judgeable: {} });
      }
    }
  });

  test('is never pending: a policy’s demand for approval refuses it, as a denial', async () => {
    const { store } = await revoked();
    for (const effect of ['deny', 'needs_approval'] as const) {
      const report = await backtest(store, 't', { domains: [desk], policy: onRevoking(effect) });
      expect(found(report)).toEqual([
        '3 assize.revoke: rejected invalid_authority, rejected r0',
        '4 assize.revoke: committed, rejected r0',
      ]);
      expect(report.differences[1]?.now).toMatchObject({ reason: 'policy_denied' });
    }
  });

  test('that a policy refused may be let through', async () => {
    for (const effect of ['deny', 'needs_approval'] as const) {
      const { store } = await revoked(onRevoking(effect));
      expect((await backtest(store, 't', { domains: [desk] })).differences).toEqual([]);
      expect(found(await backtest(store, 't', { domains: [desk], policy: allowed }))).toEqual([
        '3 assize.revoke: rejected r0, rejected invalid_authority',
        '4 assize.revoke: rejected r0, committed',
      ]);
    }
  });

  test('that was taken over was ruled where it was made', async () => {
    const store = new MemoryStore();
    const t = await runtimeOver(store, [desk]).create(desk, {
      trajectoryId: 't',
      writs: [granted, officer],
    });
    const child = await t.delegations.delegate(task());
    await t.writs.revoke({
      writ: child.delegations.origin?.writ as never,
      reason: 'lost',
      by: officer,
    });
    const policy = onRevoking('deny');
    const [above, taken] = await backtestStore(store, { domains: [desk], policy });
    expect(found(above as BacktestReport)).toEqual(['2 assize.revoke: committed, rejected r0']);
    expect(taken).toMatchObject({
      trajectory_id: 'c',
      entries: 2,
      judged: 0,
      not_judgeable: {},
      differences: [],
    });
  });
});

describe('budgets', () => {
  test('are the balance of earlier entries, with delegations and their refunds', async () => {
    const store = new MemoryStore();
    const denied = table({
      effect: 'deny',
      actions: ['pay'],
      where: [{ path: '/usd', min: 50, max: 60 }],
    });
    const assize = runtimeOver(store, [desk], { policy: denied });
    const t = await assize.create(desk, { trajectoryId: 't', writs: [granted] });
    await t.propose(pay(30, granted));
    await t.propose(pay(60, granted)); // 2 denied; 70 are left
    const child = await t.delegations.delegate(
      task({
        writ: granted,
        privateKey: lead.privateKey,
        budget: { usd: 40 },
        childTrajectoryId: 'c',
      } as never),
    );
    await t.propose(pay(55, granted)); // 4 denied; 30 are left
    await child.propose(pay(10, child.delegations.origin?.writ as never));
    const [open] = t.delegations.open();
    await t.delegations.conclude(open?.id as string, { finalAnswer: 1 });
    await t.propose(pay(60, granted)); // 6 denied; 60 are left
    await t.propose(pay(70, granted)); // 7 too much
    const report = await backtest(store, 't', { domains: [desk], policy: table() });
    expect(found(report)).toEqual([
      '2 pay: rejected r0, committed',
      '4 pay: rejected r0, rejected budget_exhausted',
      '6 pay: rejected r0, committed',
    ]);
    expect(report.judged).toBe(5);
  });

  test('a changed cost is held against them', async () => {
    const { store } = await begun();
    const t = await runtimeOver(store, [desk]).open('t');
    const rich = writFor('rich', { trajectory: 't', budget: { usd: 10 } });
    await t.propose(intent('pay', { usd: 4 }, rich));
    await t.propose(intent('pay', { usd: 4 }, rich));
    const dear = changed((declared) => ({
      actions: {
        ...declared.actions,
        pay: { ...declared.actions.pay, cost: ({ usd }: any) => ({ usd: usd + 3 }) },
      },
    }));
    // The first has its recorded cost when the second is adjudicated.
    expect(found(await backtest(store, 't', { domains: [], instead: [dear] }))).toEqual([
      '2 pay: committed, rejected budget_exhausted',
    ]);
  });
});

describe('entries that can not be adjudicated', () => {
  test('observations that are missing', async () => {
    const { store } = await begun();
    const log = new MemoryStore();
    const oracle = createOracle({ store: log, clock: fixedClock(START), mode: 'record' });
    const scope = { kind: 'call', trajectory: 't', branch: null, agent: 'a', ordinal: 0 } as never;
    const { value, oracle_key } = await oracle.consult({
      scope,
      request: { ask: 'weather' },
      call: () => 'sun',
    });
    const t = await runtimeOver(store, [desk], { oracle: log }).open('t');
    await t.propose(
      intent('keep', { value: null }, worker, {
        observations: [{ name: 'weather', value, oracle_key }],
      }),
    );
    await t.propose(intent('add', { by: 1 }, worker));
    const policy = table({ effect: 'deny' });
    const without = await backtest(store, 't', { domains: [desk], policy });
    expect(without).toMatchObject({
      judged: 1,
      not_judgeable: { observation: 1 },
      changes: { committed_to_rejected: 1 },
    });
    const whole = await backtest(store, 't', { domains: [desk], policy, oracle: log });
    expect(whole).toMatchObject({
      judged: 2,
      not_judgeable: {},
      changes: { committed_to_rejected: 2 },
    });
  });

  test('erased values, the erasure, and differences on values not erased then', async () => {
    const store = new MemoryStore();
    const t = await runtimeOver(store, [ward]).create(ward, { trajectoryId: 't', writs: [worker] });
    const nurse = (action: string, args: object, id = 'p1') =>
      t.propose({ action, role: { name: 'nurse', params: { id } }, args, writ: worker });
    await nurse('admit', { name: 'David' }); // 1: its arguments are gone
    await nurse('dismiss', {}, 'p9'); // 2: a judgement while the name was there
    await t.erase({ at: ['/patients/p1/name'], reason: 'asked for', writ: worker }); // 3
    await nurse('dismiss', {}, 'p9'); // 4
    const policy = table({ effect: 'deny', actions: ['dismiss'] });
    const report = await backtest(store, 't', { domains: [ward], policy });
    expect(report.not_judgeable).toEqual({ erased: 3 });
    expect(report.differences).toMatchObject([{ seq: 4, action: 'dismiss' }]);
    expect((await backtest(store, 't', { domains: [ward] })).differences).toEqual([]);
  });

  test('an erasure that was refused, was pending, or was proposed by an agent', async () => {
    const store = new MemoryStore();
    const careful = writFor('careful', { require_approval: ['assize.erase'] });
    const denied = table({ effect: 'deny', actions: ['assize.erase'], principals: ['agent'] });
    const assize = runtimeOver(store, [ward], { policy: denied });
    const t = await assize.create(ward, { trajectoryId: 't', writs: [worker, careful] });
    const nurse = { name: 'nurse', params: { id: 'p1' } };
    const erasing = { at: ['/patients/p1/name'], reason: 'asked for' };
    await t.propose({ action: 'admit', role: nurse, args: { name: 'David' }, writ: worker });
    await t.erase({ ...erasing, writ: worker }); // 2 denied
    await t.propose({ action: 'assize.erase', role: nurse, args: {}, writ: worker }); // 3 no such tool
    const waiting = pendingOf(t.erase({ ...erasing, writ: careful })); // 4
    await t.approvals.approve(await waiting, DOCTOR); // 5
    for (const policy of [undefined, denied, table()]) {
      const report = await backtest(store, 't', { domains: [ward], ...(policy && { policy }) });
      expect(report).toMatchObject({
        differences: [],
        not_judgeable: { erased: 4 },
        resolutions: 1,
      });
    }
  });

  test('a requester under a writ that is not in the ledger', async () => {
    const { store, t } = await begun();
    await t.propose(intent('add', { by: 'much' }, writFor('stranger')));
    const lenient = changed((declared) => ({
      actions: {
        ...declared.actions,
        add: { ...declared.actions.add, args: z.object({ by: z.unknown() }), apply: () => {} },
      },
    }));
    const policy = table({ effect: 'deny' });
    const report = await backtest(store, 't', { domains: [], instead: [lenient], policy });
    expect(report).toMatchObject({ judged: 0, not_judgeable: { writ: 1 }, differences: [] });
    const without = await backtest(store, 't', { domains: [], instead: [lenient] });
    expect(without.differences).toMatchObject([
      { seq: 1, writ_assumed: true, now: { ruling: 'committed' } },
    ]);
  });
});

describe('several trajectories', () => {
  async function family() {
    const { store, assize, propose } = await story();
    const rows = await store.entries('t');
    const branch = await assize.branch('t', rows[1]?.id as string, {
      trajectoryId: 'b',
      note: 'n',
      writs: [worker],
    });
    await branch.propose(intent('add', { by: 3 }, worker));
    await propose('add', { by: 1 });
    return store;
  }

  test('each is judged by itself; a source only where it is asked for', async () => {
    const store = await family();
    const policy = table({ effect: 'deny', actions: ['add'] });
    const said: [number, number][] = [];
    const reports = await backtestStore(store, {
      domains: [desk],
      policy,
      onProgress: (...how) => said.push(how),
    });
    expect(
      reports.map(({ trajectory_id, judged, difference_count }) => [
        trajectory_id,
        judged,
        difference_count,
      ]),
    ).toEqual([
      ['t', 7, 4],
      ['b', 1, 1],
    ]);
    expect(said).toEqual([
      [0, 12],
      [10, 12],
    ]);
    const [alone] = await backtestStore(store, { domains: [desk], policy, trajectoryIds: ['b'] });
    expect(found(alone as BacktestReport)).toEqual(['1 add: committed, rejected r0']);
  });

  test('all differences are counted where only some are listed', async () => {
    const store = await family();
    const policy = table({ effect: 'deny', actions: ['add', 'ask'] });
    const report = await backtest(store, 't', { domains: [desk], policy, limit: 1 });
    expect(report).toMatchObject({ difference_count: 6, moot_resolutions: 2 });
    expect(report.differences).toHaveLength(1);
  });
});

test('a trajectory that is not there or does not verify is an error', async () => {
  const { store } = await story();
  await expect(backtest(store, 'u', { domains: [desk] })).rejects.toMatchObject({
    code: 'not_found',
  });
  const entries: LedgerStore['entries'] = async (...asked) =>
    (await store.entries(...asked)).map((row) => ({
      ...row,
      payload: row.payload.replace('"by":4', '"by":5'),
    }));
  const cut = {
    entries,
    head: store.head.bind(store),
    blob: store.blob.bind(store),
    resolve: store.resolve.bind(store),
    erasedBy: store.erasedBy.bind(store),
  };
  await expect(backtest(cut, 't', { domains: [desk] })).rejects.toMatchObject({
    code: 'invalid_ledger',
    evidence: { seq: 1 },
  });
});
