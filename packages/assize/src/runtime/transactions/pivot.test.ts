import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Policy } from '#authority';
import { hashText } from '#canon';
import {
  type CallContext,
  declareTool,
  type EffectError,
  type Sink,
  type ToolSpec,
} from '#effects';
import { defineDomain, escalate, pass } from '#kernel';
import { Replayer, readRow, type SettlementArgs, verifyTrajectory } from '#ledger';
import { systemPause } from '#oracle';
import type { AssizeOptions, Transaction, TransactionOptions } from '#runtime';
import {
  HandClock,
  operatorWrit,
  runtimeOver,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import {
  type Outside,
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

// Calls that can be neither compensated nor buffered. They are submitted for approval, called once
// after all other effects, and observed (docs/decisions/016-effect-outcomes.md).

const PIVOT = 'irreversible.externalised';
const HELD = 'irreversible.buffered';
const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
const doctor = { principal: 'doc', method: 'test', override: true };

/** A tally with counselors that asks about some actions itself. */
const asking = defineDomain<any, any>({
  ...(tally.declared as any),
  name: 'asking',
  actions: {
    ...(tally.declared as any).actions,
    deep: { ...(tally.declared as any).actions.count, channel: 'nurse' },
  },
  invariants: ({ each }: any) => [
    each('ASK', '/done/*', { channel: 'doctor' }, (n: number, _: unknown, [name]: string[]) =>
      name === 'asked' && n > 0 ? escalate('shall it be?') : pass,
    ),
  ],
  counselors: {
    doctor: (principal: string) => principal === 'doc',
    nurse: (principal: string) => ['doc', 'nan'].includes(principal),
  },
  freeze: 'footprint',
});

/** Returns the decision for one tool, and allows all others. */
function policyFor(tool: string): Policy {
  return {
    id: 'test',
    digest: hashText(tool),
    evaluate: ({ action }) => ({
      decision: action === tool ? 'needs_approval' : 'allow',
      reasons: ['ask'],
      errors: [],
    }),
  };
}

async function stage(
  options: {
    sort?: Sink;
    fault?: Outside['fault'];
    domain?: typeof asking;
    tool?: Partial<ToolSpec>;
    around?: Partial<AssizeOptions>;
  } = {},
) {
  const { sort = 'keyed', fault, domain = asking, tool = {} } = options;
  const sink = new OutsideSink(sort);
  const outside: Outside = { sink, steps: new Steps(), ...(fault === undefined ? {} : { fault }) };
  const pivot = toolFor(outside, 'irreversible', 'externalised');
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'reversible', 'buffered'),
    toolFor(outside, 'irreversible', 'buffered'),
    declareTool({ ...pivot.spec, ...tool }),
  ];
  const store = new MemoryStore();
  const assize = runtimeOver(store, [domain], { tools, ...options.around });
  const trajectory = await assize.create(domain, { trajectoryId: 't' });
  const all: TransactionOptions = { writ: writFor('alice'), writes: ['test:**'], retries: 0 };
  const transact = (
    body: (tx: Transaction) => Promise<unknown>,
    more: Partial<TransactionOptions> = {},
    intent = COUNT,
  ) =>
    trajectory.transaction({ ...all, ...more }, async (tx) => {
      await body(tx);
      tx.propose(intent);
    });
  /** Submits the proposal, and returns its id and its ruling. */
  const putUp = async (...given: Parameters<typeof transact>) => {
    const { ruling, effects } = await transact(...given);
    if (ruling.ruling !== 'escalated') throw new Error(`it was ${ruling.ruling}`);
    return { id: ruling.pending, pending: JSON.parse(ruling.entry.payload), effects };
  };
  /** Closes the runtime, and verifies and replays the ledger. */
  const verified = async (open = 0) => {
    await assize.close();
    expect(await verifyTrajectory(new Replayer(store), 't')).toMatchObject({ valid: true, open });
    expect(await deepReplay(store, 't', { domains: [domain] })).toMatchObject({
      same: true,
      differences: [],
      reworded: 0,
    });
  };
  return { sink, store, assize, trajectory, transact, putUp, verified };
}

const codeOf = (made: Promise<unknown>): Promise<string> =>
  made.then(
    () => 'done',
    (error: EffectError) => error.reason,
  );

async function settlementOf(store: MemoryStore) {
  const entries = (await store.entries('t')).map((row) => readRow(row).payload);
  const payload = entries.findLast(
    (each) => each.kind === 'commit' && each.action.name === 'assize.settle',
  );
  if (payload?.kind !== 'commit') throw new Error('there is none');
  return {
    settled: (payload.action.args as unknown as SettlementArgs).settled,
    observations: payload.observations,
  };
}

test('a pivot is called once, after approval and all else, and is observed', async () => {
  const { sink, store, assize, trajectory, putUp, verified } = await stage();
  const { id, pending, effects } = await putUp(async (tx) => {
    expect(await tx.call(PIVOT, { what: 'pivot' })).toBe(null);
    await tx.call(HELD, { what: 'held' });
    await tx.call('reversible.buffered', { what: 'first' });
  });
  expect(effects).toBe('waiting');
  expect(pending).toMatchObject({
    reason: 'irreversible',
    channel: 'any',
    detail: expect.stringContaining(PIVOT),
  });
  expect(sink.log).toEqual([]);
  const ruling = await trajectory.approvals.approve(id, doctor);
  if (ruling.ruling !== 'committed') throw new Error(`it was ${ruling.ruling}`);
  expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual([
    'do first',
    'do held',
    'do pivot',
  ]);

  const answers = await assize.awaitEffects(ruling.entry.id);
  expect(answers).toMatchObject([
    { tool: PIVOT, phase: 'applied', answer: { did: 'pivot' } },
    { tool: HELD, answer: { did: 'held' } },
    { tool: 'reversible.buffered', answer: { did: 'first' } },
  ]);
  const [answer] = answers;
  const { settled, observations } = await settlementOf(store);
  expect(settled.flatMap(({ effects }) => effects).map(({ answered }) => answered)).toEqual([
    true,
    true,
    true,
  ]);
  expect(observations).toEqual(
    answers.map(({ id }) => ({ name: id, value: expect.objectContaining({ salted: true }) })),
  );
  // The next proposal depends on the answer.
  const observed = [{ name: answer!.id, value: answer!.answer }];
  const next = await trajectory.propose({
    ...COUNT,
    writ: writFor('alice'),
    observations: observed,
  });
  expect(next.ruling).toBe('committed');
  await verified();
});

test.each(['reject', 'expire', 'throw'] as const)(
  'where it comes to %s, it is never called',
  async (end) => {
    const clock = new HandClock();
    const { sink, assize, trajectory, putUp, transact, verified } = await stage({
      around: {
        ports: { clock },
        ...(end === 'expire' ? { approvals: { timeoutMs: 1_000 } } : {}),
      },
    });
    const body = (tx: Transaction) => tx.call(PIVOT, { what: 'pivot' });
    if (end === 'throw') {
      const thrown = transact(async (tx) => {
        await body(tx);
        throw new Error('no');
      });
      await expect(thrown).rejects.toThrow('no');
    } else {
      const { id } = await putUp(body);
      if (end === 'reject')
        await trajectory.approvals.reject(id, { principal: 'doc', method: 'test', reason: 'no' });
      else {
        clock.forward(2_000);
        expect((await trajectory.approvals.awaitDecision(id)).ruling).toBe('rejected');
      }
      expect(await codeOf(trajectory.approvals.approve(id, doctor))).toBe('not_pending');
    }
    expect(await assize.recoverEffects()).toEqual([]);
    expect(sink.log).toEqual([]);
    await verified();
  },
);

describe('a human is asked, independent of other demands', () => {
  test.each<[string, { own?: object; around?: object; intent?: object; channel?: string }, object]>(
    [
      ['nobody', {}, { channel: 'any' }],
      ['its tool', { channel: 'doctor' }, { channel: 'doctor' }],
      [
        'the policy',
        { around: { policy: policyFor(PIVOT) } },
        { channel: 'any', detail: expect.stringContaining('ask') },
      ],
      [
        'the policy of the action',
        { around: { policy: policyFor('count') }, channel: 'nurse' },
        { channel: 'nurse' },
      ],
      [
        'the writ',
        { own: { writ: writFor('alice', { require_approval: ['**'] }) } },
        { channel: 'any' },
      ],
      ['its action', { intent: { action: 'deep' } }, { channel: 'nurse' }],
      [
        'its action and its tool',
        { intent: { action: 'deep' }, channel: 'doctor' },
        { channel: 'doctor+nurse' },
      ],
      [
        'a rule',
        { intent: { args: 'asked' }, channel: 'nurse' },
        { channel: 'doctor+nurse', invariant_id: 'ASK' },
      ],
    ],
  )('%s', async (_, { own = {}, around = {}, intent = {}, channel }, expected) => {
    const at = await stage({ around, ...(channel === undefined ? {} : { tool: { channel } }) });
    const body = (tx: Transaction) => tx.call(PIVOT, { what: 'pivot' });
    const { id, pending } = await at.putUp(body, own, { ...COUNT, ...intent } as never);
    expect(pending).toMatchObject({ reason: 'irreversible', ...expected });
    const asNurse = { ...doctor, principal: 'nan' };
    if (pending.channel.includes('doctor')) {
      const refused = await codeOf(at.trajectory.approvals.approve(id, asNurse));
      expect(refused).toBe('unauthorised_counselor');
    }
    expect(at.sink.log).toEqual([]);
    expect((await at.trajectory.approvals.approve(id, doctor)).ruling).toBe('committed');
    expect(at.sink.times('do', 'pivot')).toBe(1);
    await at.verified();
  });

  test('a pivot is refused if the domain has no eligible approver', async () => {
    const nobody = await stage({ domain: tally as typeof asking });
    expect(await codeOf(nobody.transact((tx) => tx.call(PIVOT, { what: 'a' })))).toBe(
      'no_counselor',
    );
    const other = await stage({ tool: { channel: 'lawyer' } });
    expect(await codeOf(other.transact((tx) => tx.call(PIVOT, { what: 'a' })))).toBe(
      'no_counselor',
    );
    expect([nobody.sink.log, other.sink.log]).toEqual([[], []]);
  });
});

describe('a second one is refused', () => {
  const call = (tx: Transaction, what: string) => tx.call(PIVOT, { what });

  test.each<[string, (tx: Transaction) => Promise<unknown>]>([
    ['at the call', (tx) => call(tx, 'a').then(() => call(tx, 'b'))],
    ['at the call, beside the first', (tx) => Promise.all([call(tx, 'a'), call(tx, 'b')])],
    ['in a part', (tx) => call(tx, 'a').then(() => tx.nested((part) => call(part, 'b')))],
    ['after a part', (tx) => tx.nested((part) => call(part, 'a')).then(() => call(tx, 'b'))],
    [
      'after a branch of a branch',
      (tx) =>
        tx
          .speculate([(one) => one.speculate([(deep) => call(deep, 'a')], () => 0)], () => 0)
          .then(() => call(tx, 'b')),
    ],
    [
      'with the branch that is chosen, where the transaction has one by now',
      (tx) => tx.speculate([(one) => call(one, 'a')], () => call(tx, 'b').then(() => 0)),
    ],
    [
      'with the second of two choices',
      (tx) =>
        Promise.all(['a', 'b'].map((what) => tx.speculate([(one) => call(one, what)], () => 0))),
    ],
  ])('%s', async (_, body) => {
    const { sink, assize, transact } = await stage();
    expect(await codeOf(transact(body))).toBe('second_pivot');
    expect(await assize.recoverEffects()).toEqual([]);
    expect(sink.log).toEqual([]);
  });

  test('and the body may go on with the first', async () => {
    const { sink, trajectory, putUp, verified } = await stage();
    const { id } = await putUp(async (tx) => {
      await call(tx, 'a');
      expect(await codeOf(call(tx, 'b'))).toBe('second_pivot');
      // The planned calls of the branch are dropped with it.
      const branch = tx.speculate(
        [async (one) => one.call(HELD, { what: 'branch' }).then(() => call(one, 'c'))],
        () => 0,
      );
      expect(await codeOf(branch)).toBe('no_branch');
    });
    await trajectory.approvals.approve(id, doctor);
    expect(sink.log.map(({ what }) => what)).toEqual(['a']);
    await verified();
  });

  test('each branch may have a pivot, but only the winner’s is submitted', async () => {
    const { sink, trajectory, putUp, verified } = await stage();
    const { id, pending } = await putUp(async (tx) => {
      const branches = ['a', 'b', 'c', 'd'].map((what) => (one: Transaction) => call(one, what));
      await tx.speculate(branches, () => 2);
    });
    expect(pending.proposal.delta.effects).toHaveLength(1);
    expect(sink.log).toEqual([]);
    await trajectory.approvals.approve(id, doctor);
    expect(sink.log.map(({ what }) => what)).toEqual(['c']);
    await verified();
  });

  test('and one that was not planned does not count', async () => {
    const plan = (input: { what: string }) => {
      if (input.what === 'bad') throw new Error('no such button');
      return null;
    };
    const { sink, trajectory, putUp } = await stage({ tool: { plan: plan as never } });
    const { id } = await putUp(async (tx) => {
      await expect(call(tx, 'bad')).rejects.toThrow('no such button');
      await tx.speculate(
        [(one) => call(one, 'loses'), (one) => one.call(HELD, { what: 'wins' })],
        () => 1,
      );
      await call(tx, 'a');
    });
    await trajectory.approvals.approve(id, doctor);
    expect(sink.log.map(({ what }) => what)).toEqual(['wins', 'a']);
  });
});

describe('after the commit', () => {
  test('the pivot waits for unresolved effects and follows their decision', async () => {
    const { sink, assize, store, trajectory, putUp, verified } = await stage({
      sort: 'blind',
      fault: (_, what) => (what === 'held' ? 'lose' : 'none'),
    });
    const { id } = await putUp(async (tx) => {
      await tx.call(PIVOT, { what: 'pivot' });
      await tx.call(HELD, { what: 'held' });
    });
    await trajectory.approvals.approve(id, doctor);
    expect(sink.times('do', 'pivot')).toBe(0);
    const [left] = await assize.recoverEffects();
    expect(left).toMatchObject({ tool: HELD, phase: 'in_doubt' });
    const { epoch, n } = left!;
    const decided = await assize.resolveEffect({
      epoch,
      n,
      as: 'applied',
      by: 'ops',
      writ: operatorWrit(),
      evidence: 'it is in the tray',
    });
    expect(decided).toMatchObject({ transaction: 'settled', unresolved: 0 });
    expect(sink.times('do', 'pivot')).toBe(1);
    await assize.close();
    expect((await settlementOf(store)).settled[0]?.effects).toMatchObject([
      { answered: true, outcome: 'applied' },
    ]);
    await verified();
  });

  test('a repetition by name receives its outcome', async () => {
    const { assize, trajectory, transact, putUp, verified } = await stage({
      sort: 'blind',
      fault: () => 'lose',
    });
    const named = [
      (tx: Transaction) => tx.call(PIVOT, { what: 'pivot' }),
      { name: 'order 1' },
    ] as const;
    const { id } = await putUp(...named);
    await trajectory.approvals.approve(id, doctor);
    const again = { ruling: { ruling: 'committed' }, epoch: undefined };
    expect(await transact(...named)).toMatchObject({ ...again, effects: 'needs_human' });
    const [left] = await assize.recoverEffects();
    const { epoch, n } = left!;
    await assize.resolveEffect({
      epoch,
      n,
      as: 'applied',
      by: 'ops',
      writ: operatorWrit(),
      evidence: 'it is there',
    });
    expect(await transact(...named)).toMatchObject({ ...again, effects: 'settled' });
    await verified();
  });

  test('a pivot has its own key, even if an earlier attempt acted at its index', async () => {
    const { sink, trajectory, transact, putUp, verified } = await stage();
    const first = transact(
      async (tx) => {
        await tx.call('reversible.externalised', { what: 'acts' });
        throw new Error('no');
      },
      { name: 'order 1' },
    );
    await expect(first).rejects.toThrow('no');
    const { id } = await putUp((tx) => tx.call(PIVOT, { what: 'pivot' }), { name: 'order 1' });
    expect(await trajectory.approvals.approve(id, doctor)).toMatchObject({ ruling: 'committed' });
    expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual([
      'do acts',
      'undo acts',
      'do pivot',
    ]);
    await verified();
  });

  test('an operator’s statement replaces the answer', async () => {
    const { assize, trajectory, putUp, verified } = await stage({
      sort: 'blind',
      fault: () => 'lose',
    });
    const { id } = await putUp((tx) => tx.call(PIVOT, { what: 'pivot' }));
    const ruling = await trajectory.approvals.approve(id, doctor);
    if (ruling.ruling !== 'committed') throw new Error(`it was ${ruling.ruling}`);
    expect(await assize.awaitEffects(ruling.entry.id)).toMatchObject([{ phase: 'in_doubt' }]);
    const [left] = await assize.recoverEffects();
    const { epoch, n } = left!;
    await assize.resolveEffect({
      epoch,
      n,
      as: 'applied',
      by: 'ops',
      writ: operatorWrit(),
      evidence: 'it is there',
    });
    const [answer] = await assize.awaitEffects(ruling.entry.id);
    expect([answer?.phase, answer?.answer]).toEqual(['applied', undefined]);
    await verified();
  });

  test('the pivot’s answer is awaited, for any duration', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const execute = async ({ what }: { what: string }, _: CallContext) => ({
      did: what,
      got: await promise,
    });
    const { assize, trajectory, putUp, transact } = await stage({
      tool: { execute: execute as never },
      around: { ports: { pause: systemPause } },
    });
    const { id } = await putUp((tx) => tx.call(PIVOT, { what: 'pivot' }));
    const approved = trajectory.approvals.approve(id, doctor);
    const ruling = await trajectory.approvals.awaitDecision(id);
    if (ruling.ruling !== 'committed') throw new Error(`it was ${ruling.ruling}`);
    const { at } = JSON.parse(ruling.entry.payload);
    expect(await codeOf(assize.awaitEffects(ruling.entry.id, { until: at }))).toBe('still_pending');
    const stop = new AbortController();
    const stopped = assize.awaitEffects(ruling.entry.id, { signal: stop.signal });
    stop.abort(new Error('no more'));
    await expect(stopped).rejects.toThrow('no more');
    const answers = assize.awaitEffects(ruling.entry.id);
    resolve('a receipt');
    expect((await answers)[0]?.answer).toEqual({ did: 'pivot', got: 'a receipt' });
    await approved;
    expect(await codeOf(assize.awaitEffects(id))).toBe('not_found');
    const effects = async (more: Partial<TransactionOptions>) => {
      const { ruling: made } = await transact((tx) => tx.call(HELD, { what: 'held' }), more);
      return made.ruling === 'committed' ? assize.awaitEffects(made.entry.id) : [];
    };
    expect(await effects({ name: 'order 1' })).toMatchObject([{ tool: HELD, phase: 'applied' }]);
    expect(await codeOf(effects({}))).toBe('not_found');
    expect(await codeOf(assize.awaitEffects(hashText('x')))).toBe('not_found');
  });
});

test.each<[string, object, string]>([
  [
    'what can be held',
    { class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' } },
    'only an irreversible, externalised tool',
  ],
  ['an invalid name', { channel: 'a b' }, 'a counselor kind'],
  ['whoever it is', { channel: 'any' }, 'a counselor kind'],
])('a channel of %s is refused', (_, change, why) => {
  const spec = {
    name: 'x.send',
    input: z.null(),
    class: { reversibility: 'irreversible', delivery: 'externalised', sink: 'keyed' },
    writes: ['x:y'],
    channel: 'doctor',
    execute: () => null,
    ...change,
  } as const;
  expect(() => declareTool(spec as never)).toThrow(why);
});

test('the effect log has transaction names, scopes and codes, but no tool data', async () => {
  const secret = 'Zelda has the flu';
  const { store, transact, putUp, trajectory, verified } = await stage({
    fault: (of, what) => (of === 'do' && what.endsWith('!') ? 'fail_for_good' : 'none'),
  });
  const at = 'r7';
  const call =
    (what: string, tool = 'reversible.externalised') =>
    async (tx: Transaction) =>
      tx.call(tool, { what, at });
  await transact(call(secret));
  await transact(call(secret), { name: 'order 7' });
  await expect(transact(call(`${secret}!`))).rejects.toThrow('Zelda');
  const despair = transact(async (tx) => {
    await call(secret)(tx);
    throw new Error(secret);
  });
  await expect(despair).rejects.toThrow('Zelda');
  const { id, pending } = await putUp(call(secret, PIVOT));
  const ruling = await trajectory.approvals.approve(id, doctor);
  expect(ruling.ruling).toBe('committed');
  await verified();
  const rows = await store.listEffects({ limit: 100 });
  expect(JSON.stringify(rows)).not.toContain('Zelda');
  // Generated names of transactions: random, or the id of the approved proposal.
  const bodies = rows.map(({ body }) => JSON.parse(body)).reverse();
  const made = expect.stringMatching(/^[0-9a-f]{32}$/);
  expect(bodies.map(({ transaction }) => transaction)).toEqual([
    ...[made, 'order 7', made, made],
    pending.proposal.proposal_id,
  ]);
  const scopes = bodies
    .flatMap(({ claims }) => claims)
    .map(({ scope }: { scope: string }) => scope);
  for (const scope of scopes)
    expect(scope).toMatch(/^(test:\*\*|test:r7|assize:transaction:[0-9a-f]{64})$/);
});
