import { describe, expect, test } from 'vitest';
import { attenuate, delegateWrit, issueWrit, type Writ, writId } from '#authority';
import { type DelegationPayload, readRow } from '#ledger';
import {
  apart,
  begun,
  codeOf,
  DOCTOR,
  desk,
  expectLeft,
  expectSound,
  granted,
  helper,
  lead,
  nameOf,
  openOf,
  pay,
  pendingOf,
  refusal,
  reopened,
  task,
  third,
  worker,
  writOf,
} from '../../../../../tests/support/ledger/delegations.ts';
import {
  allEntries,
  deskOf,
  FaultyStore,
  payloads,
  soundState,
} from '../../../../../tests/support/ledger/desk.ts';
import { keysOf } from '../../../../../tests/support/ledger/rows.ts';
import {
  intent,
  operator,
  runtimeOver,
  START,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { RuntimeError } from '../errors.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { Trajectory } from '../trajectory.ts';
import type { DelegationInput, GrantToSign } from './terms.ts';

test('a delegation from its start to its conclusion, as its entries tell it', async () => {
  const { store, clock, trajectory } = await begun();
  clock.forward(1_000);
  const initial = { ...desk.initial, n: 3 };
  const child = await trajectory.delegations.delegate(task({ initial }));
  expect(child.id).toBe('c');
  expect(child.state()).toMatchObject({ n: 3 });
  const [open] = trajectory.delegations.open();
  const started = open?.id as string;
  expect(open).toMatchObject({
    id: trajectory.head,
    payload: { child_trajectory_id: 'c', task: 'count' },
  });

  const writ = await writOf(store);
  expect(nameOf(await child.propose(pay(25, writ)))).toBe('committed');
  clock.forward(1_000);
  const finalAnswer = { counted: 7, why: ['because'] };
  const entry = await trajectory.delegations.conclude(started, { finalAnswer });
  expect(trajectory.delegations.open()).toEqual([]);
  expect(entry).toEqual((await allEntries(store, 't')).at(-1));
  expect([trajectory.head, child.head]).toEqual([
    entry.id,
    (await allEntries(store, 'c')).at(-1)?.id,
  ]);

  const delegated = expect.objectContaining({
    subject: 'helper',
    budget: { usd: 60 },
    trajectory: 'c',
    max_depth: 3,
  });
  const common = { kind: 'delegation', child_trajectory_id: 'c', task: 'count', writ: delegated };
  const [, start, conclusion] = await payloads(store, 't');
  expect(start).toEqual({
    ...common,
    trajectory_id: 't',
    seq: 1,
    parent: expect.any(String),
    at: '2026-03-23T09:00:01.000000Z',
    begins: { domain: { name: 'desk', version: '1', hash: desk.hash }, initial_state: initial },
  });
  const [root, , answer] = await payloads(store, 'c');
  expect(root).toMatchObject({
    at: start?.at,
    initial_state: initial,
    writs: [delegated, granted],
    delegated_from: { trajectory_id: 't', entry_id: started },
  });
  for (const open of [child, await reopened(store, 'c')]) {
    expect(open.delegations.origin).toEqual({
      trajectoryId: 't',
      entryId: started,
      writ: delegated,
    });
    expect(writId(open.delegations.origin?.writ as Writ)).toBe(writ);
  }
  expect(trajectory.delegations.origin).toBeUndefined();
  const said = {
    ...common,
    concludes: started,
    budget_cost: { usd: 25 },
    final_answer: finalAnswer,
  };
  expect(answer).toMatchObject({ ...said, seq: 2 });
  expect(conclusion).toEqual({
    ...said,
    trajectory_id: 't',
    seq: 2,
    parent: started,
    at: '2026-03-23T09:00:02.000000Z',
    child_head: child.head,
  });
  await expectSound(store);
  for (const parent of [trajectory, await reopened(store)])
    expect(parent.delegations.open()).toEqual([]);
});

test('the final answer is an observation of the parent’s next proposal', async () => {
  const { store, trajectory } = await begun();
  const child = await trajectory.delegations.delegate(task());
  await child.propose(intent('add', { by: 2 }, (await writOf(store)) as never));
  const id = openOf(trajectory);
  const entry = await trajectory.delegations.conclude(id, { finalAnswer: { n: 2 } });
  const { final_answer: value } = readRow(entry).payload as DelegationPayload;
  const ruling = await trajectory.propose(
    intent('keep', { value: null }, worker, {
      observations: [{ name: `answer of ${child.id}`, value }],
    }),
  );
  expect(nameOf(ruling)).toBe('committed');
  expect(trajectory.state()).toMatchObject({ data: [{ n: 2 }], n: 0 });
  expect((await payloads(store, 't')).at(-1)).toMatchObject({
    observations: [{ name: 'answer of c', value: { n: 2 } }],
  });
  await expectSound(store);
});

test('the final answer is recorded as given, despite a later mutation', async () => {
  for (const by of ['conclude', 'answer'] as const) {
    const { store, trajectory } = await begun();
    const child = await trajectory.delegations.delegate(task());
    const finalAnswer: Record<string, unknown> = { n: 2 };
    const done =
      by === 'answer'
        ? child.delegations.answer({ finalAnswer })
        : trajectory.delegations.conclude(openOf(trajectory), { finalAnswer });
    finalAnswer['n'] = 3;
    expect(readRow(await done).payload).toMatchObject({ final_answer: { n: 2 } });
    await expectSound(store);
  }
});

describe('a budget', () => {
  test('is reserved while the child may spend it; the unspent rest is refunded', async () => {
    const { store, trajectory } = await begun();
    expect(nameOf(await trajectory.propose(pay(10, granted)))).toBe('committed');
    const child = await trajectory.delegations.delegate(task());
    for (const parent of [trajectory, await reopened(store)]) {
      expect(await parent.propose(pay(31, granted))).toMatchObject({
        detail: expect.stringContaining('has 30 usd left'),
      });
    }
    const writ = await writOf(store);
    for (const open of [child, await reopened(store, 'c')]) {
      expect(nameOf(await open.propose(pay(20, writ)))).toBe('committed');
      expect(nameOf(await open.propose(pay(41, writ)))).toBe('budget_exhausted');
    }
    const id = openOf(trajectory);
    await trajectory.delegations.conclude(id);
    // 10 of its own, 40 of the child.
    for (const parent of [trajectory, await reopened(store)]) {
      expect(await parent.propose(pay(51, granted))).toMatchObject({
        detail: expect.stringContaining('has 50 usd left'),
      });
    }
    await expectLeft(await reopened(store), 50);
    await expectSound(store);
  });

  test('of nothing is set aside where none is named, and all of it may be', async () => {
    const { store, trajectory } = await begun();
    const { budget: _none, ...without } = task() as GrantToSign & DelegationInput;
    await trajectory.delegations.delegate({
      ...without,
      childTrajectoryId: 'poor',
    } as DelegationInput);
    await trajectory.delegations.delegate(
      task({ childTrajectoryId: 'rich', budget: { usd: 100 } }),
    );
    const poor = await reopened(store, 'poor');
    const writ = await writOf(store, 'poor');
    expect(nameOf(await poor.propose(pay(1, writ)))).toBe('budget_exhausted');
    expect(nameOf(await poor.propose(pay(0, writ)))).toBe('committed');
    expect(nameOf(await trajectory.propose(pay(1, granted)))).toBe('budget_exhausted');
    await expectSound(store);
  });

  test('that does not cover it refuses the delegation, and nothing is recorded', async () => {
    const { store, trajectory } = await begun();
    await trajectory.propose(pay(41, granted));
    expect(await refusal(store, () => trajectory.delegations.delegate(task()))).toBe(
      'budget_exhausted',
    );
    expect(trajectory.delegations.open()).toEqual([]);
    await trajectory.delegations.delegate(task({ budget: { usd: 59 } }));
    await expectLeft(trajectory, 0);
    await expectSound(store);
  });

  test('is shared with the other children of the same writ, in both trajectories', async () => {
    const { store, trajectory } = await begun();
    const kid = attenuate(
      granted,
      { subject: 'kid', nonce: 'kid', budget: { usd: 80 } },
      lead.privateKey,
    );
    await trajectory.propose(pay(30, { writ: kid, chain: [granted] } as never));
    const child = await trajectory.delegations.delegate(task({ subject: helper.publicKey }));
    expect(nameOf(await trajectory.propose(pay(11, writId(kid))))).toBe('budget_exhausted');
    expect(nameOf(await trajectory.propose(pay(10, writId(kid))))).toBe('committed');
    // A child of the delegated writ spends from its budget, in the child trajectory only.
    const [root] = await payloads(store, 'c');
    const delegated = (root as unknown as { writs: Writ[] }).writs[0] as Writ;
    const grandkid = attenuate(delegated, { subject: 'grandkid', nonce: 'g' }, helper.privateKey);
    expect(nameOf(await child.propose(pay(59, grandkid)))).toBe('committed');
    expect(nameOf(await child.propose(pay(2, writId(delegated))))).toBe('budget_exhausted');
    const presented = { writ: grandkid, chain: [delegated, granted] };
    expect(await codeOf(trajectory.propose(pay(1, presented as never)))).toBe('bad_writ');
    const id = openOf(trajectory);
    await trajectory.delegations.conclude(id);
    await expectLeft(await reopened(store), 1);
    await expectSound(store);
  });

  test('goes down and comes back over three trajectories', async () => {
    const { store, trajectory } = await begun();
    const child = await trajectory.delegations.delegate(task({ subject: helper.publicKey }));
    const writ = await writOf(store);
    const deep = task({
      writ: writ as never,
      privateKey: helper.privateKey,
      subject: 'deep',
      childTrajectoryId: 'd',
      budget: { usd: 50 },
    });
    const grandchild = await child.delegations.delegate(deep);
    expect(nameOf(await child.propose(pay(11, writ)))).toBe('budget_exhausted');
    expect(nameOf(await child.propose(pay(10, writ)))).toBe('committed');
    expect(nameOf(await grandchild.propose(pay(35, await writOf(store, 'd'))))).toBe('committed');

    const [above, below] = [openOf(trajectory), openOf(child)];
    expect(await refusal(store, () => trajectory.delegations.conclude(above))).toBe('wrong_state');
    await child.delegations.conclude(below, { finalAnswer: 'deep' });
    for (const open of [child, await reopened(store, 'c')]) {
      expect(await open.propose(pay(16, writ))).toMatchObject({
        detail: expect.stringContaining('has 15 usd left'),
      });
    }
    const entry = await trajectory.delegations.conclude(above, { finalAnswer: 'done' });
    expect(readRow(entry).payload).toMatchObject({ budget_cost: { usd: 45 } });
    await expectLeft(await reopened(store), 55);
    await expectSound(store);
  });

  test('in several units, some with odd names, is counted in each', async () => {
    const units = JSON.parse('{"usd":10,"__proto__":10,"toString":10}') as Record<string, number>;
    const odd = writFor(lead.publicKey, { nonce: 'odd', trajectory: 't', budget: units });
    const { store, trajectory } = await begun({ create: { writs: [odd] } });
    const budget = JSON.parse('{"__proto__":4,"usd":9}') as Record<string, number>;
    await trajectory.delegations.delegate(task({ writ: odd, budget }));
    expect(nameOf(await trajectory.propose(pay(2, odd)))).toBe('budget_exhausted');
    const id = openOf(trajectory);
    await (await reopened(store, 'c')).propose(pay(8, await writOf(store)));
    await trajectory.delegations.conclude(id);
    await expectLeft(trajectory, 2, odd);
    await expectSound(store);
  });
});

describe('a writ that was delegated', () => {
  test('counts in its child and nowhere else', async () => {
    const { store, assize, trajectory } = await begun();
    await trajectory.delegations.delegate(task());
    const [root] = await payloads(store, 'c');
    const delegated = (root as unknown as { writs: Writ[] }).writs[0] as Writ;
    const chain = { writ: delegated, chain: [granted] } as never;
    expect(await refusal(store, () => trajectory.propose(pay(1, chain)))).toBe('bad_writ');
    expect(await refusal(store, () => assize.create(desk, { writs: [delegated, granted] }))).toBe(
      'bad_writ',
    );
    const branch = await assize.branch('c', (await allEntries(store, 'c'))[0]?.id as string, {
      note: 'n',
    });
    expect(await refusal(store, () => branch.propose(pay(1, chain)))).toBe('bad_writ');
    expect(await refusal(store, () => branch.propose(pay(1, writId(delegated))))).toBe(
      'unknown_writ',
    );
    const inherit = { note: 'n', writs: [delegated, granted] };
    const source = (await allEntries(store, 'c'))[0]?.id as string;
    expect(await refusal(store, () => assize.branch('c', source, inherit))).toBe('bad_writ');
    await expectSound(store);
  });

  test('is unique: an undelegated writ for the same child does not count', async () => {
    const { store, trajectory } = await begun();
    const child = await trajectory.delegations.delegate(task());
    const more = { subject: 'helper', nonce: 'more', trajectory: 'c', budget: { usd: 100 } };
    const forged = delegateWrit(granted, more, lead.privateKey);
    expect(await refusal(store, () => child.propose(pay(1, forged)))).toBe('bad_writ');
    expect(nameOf(await child.propose(pay(1, granted)))).toBe('invalid_authority');
    expect((await payloads(store, 'c')).at(-1)).toMatchObject({ reason: 'invalid_authority' });
  });

  const wrong: [string, Partial<DelegationInput & GrantToSign>, string][] = [
    ['signed by another', { privateKey: third.privateKey }, 'bad_key'],
    [
      'wider',
      { actions: ['**'], writ: writFor(lead.publicKey, { nonce: 'n', actions: ['add'] }) },
      'not_attenuated',
    ],
    ['of more than the parent was granted', { budget: { usd: 101 } }, 'not_attenuated'],
    ['of a unit that was not granted', { budget: { eur: 0 } }, 'not_attenuated'],
    ['that lives longer', { expires: '2028-01-01T00:00:00.000000Z' }, 'not_attenuated'],
    [
      'of no depth',
      { writ: writFor(lead.publicKey, { nonce: 'flat', max_depth: 0 }) },
      'not_attenuated',
    ],
    ['for who holds it', { subject: lead.publicKey }, 'bad_writ'],
    ['for the one above', { subject: operator.publicKey }, 'bad_writ'],
    ['for nobody', { subject: '' }, 'bad_writ'],
    ['of a writ that is not known', { writ: 'a'.repeat(64) }, 'unknown_writ'],
    ['of no writ', { writ: null as never }, 'bad_intent'],
    [
      'of a writ for another trajectory',
      { writ: writFor(lead.publicKey, { trajectory: 'x' }), budget: {} },
      'bad_writ',
    ],
    [
      'of one that expired',
      { writ: writFor(lead.publicKey, { nonce: 'old', expires: START }), budget: {} },
      'bad_writ',
    ],
    [
      'of one that does not hold yet',
      {
        writ: writFor(lead.publicKey, { nonce: 'new', not_before: '2026-03-23T09:00:00.000001Z' }),
        budget: {},
      },
      'bad_writ',
    ],
    ['that has expired', { expires: '2026-03-23T09:00:00.000000Z' }, 'bad_writ'],
    ['without a task', { task: '' }, 'bad_intent'],
    ['with a task that is not a string', { task: 7 as never }, 'bad_intent'],
    ['with a task of 65,537 characters', { task: 'x'.repeat(65_537) }, 'bad_intent'],
    ['to a name that can’t be', { childTrajectoryId: 'a/b' }, 'bad_argument'],
    ['to itself', { childTrajectoryId: 't' }, 'exists'],
    ['to one that is there', { childTrajectoryId: 'other' }, 'exists'],
    [
      'with a state that breaks an invariant',
      { initial: { ...desk.initial, n: 11 } },
      'invalid_state',
    ],
    ['with an invalid state', { initial: { n: 1 } }, 'invalid_state'],
    [
      'with a domain that the runtime was not given',
      { domain: deskOf('world', '9') },
      'domain_mismatch',
    ],
    ['without a key', { privateKey: undefined as never }, 'bad_key'],
    ['with an invalid key', { privateKey: 'x' }, 'bad_key'],
  ];
  test.each(wrong)('%s is refused, and nothing is recorded', async (_what, rest, code) => {
    const { store, assize, trajectory } = await begun();
    await assize.create(desk, { trajectoryId: 'other' });
    expect(await refusal(store, () => trajectory.delegations.delegate(task(rest)))).toBe(code);
    expect(trajectory.delegations.open()).toEqual([]);
    await expectLeft(trajectory, 100);
  });

  test.each([null, undefined, 'x', 7, {}])('%j is not a delegation', async (input) => {
    const { store, trajectory } = await begun();
    expect(await refusal(store, () => trajectory.delegations.delegate(input as never))).toBe(
      'bad_intent',
    );
  });

  describe('signed elsewhere', () => {
    const signed = (rest: object = {}, above = granted): Writ =>
      delegateWrit(
        above,
        { subject: 'helper', nonce: 's', trajectory: 'c', budget: { usd: 5 }, ...rest },
        lead.privateKey,
      );

    test('names the child, and needs no key', async () => {
      const { store, trajectory } = await begun();
      const child = await trajectory.delegations.delegate({
        task: 'count',
        writ: granted,
        signed: signed(),
      });
      expect(child.id).toBe('c');
      expect(nameOf(await child.propose(pay(5, signed())))).toBe('committed');
      await expectSound(store);
    });

    const stranger = keysOf(77);
    const foreign = issueWrit(
      {
        ...(({ v: _v, parent: _p, signature: _s, ...rest }) => rest)(granted),
        issuer: stranger.publicKey,
      },
      stranger.privateKey,
    );
    const bad: [string, () => Partial<DelegationInput>, string][] = [
      ['for another child', () => ({ signed: signed({ trajectory: 'x' }) }), 'bad_writ'],
      [
        'for this trajectory',
        () => ({ signed: attenuate(granted, { subject: 's', nonce: 'n' }, lead.privateKey) }),
        'bad_writ',
      ],
      ['changed since', () => ({ signed: { ...signed(), budget: { usd: 6 } } }), 'bad_writ'],
      [
        'of another writ',
        () => ({ signed: signed({ budget: {} }, writFor(lead.publicKey, { nonce: 'o' })) }),
        'bad_writ',
      ],
      ['a root itself', () => ({ signed: worker }), 'bad_writ'],
      [
        'under a foreign anchor',
        () => ({ writ: foreign, signed: signed({}, foreign) }),
        'bad_writ',
      ],
      ['no writ', () => ({ signed: {} as never }), 'bad_writ'],
      ['null', () => ({ signed: null as never }), 'bad_writ'],
      ['undefined', () => ({ signed: undefined as never }), 'bad_writ'],
    ];
    test.each(bad)('%s is bad_writ', async (_what, rest, code) => {
      const { store, trajectory } = await begun();
      const usual = { task: 'count', writ: granted, childTrajectoryId: 'c', signed: signed() };
      expect(
        await refusal(store, () =>
          trajectory.delegations.delegate({ ...usual, ...rest() } as DelegationInput),
        ),
      ).toBe(code);
    });
  });

  test('of a writ without a trajectory is for its child alone', async () => {
    const free = writFor(lead.publicKey, { nonce: 'free' });
    const { store, trajectory } = await begun({ create: { writs: [free] } });
    const child = await trajectory.delegations.delegate(task({ writ: free, budget: {} }));
    const writ = await writOf(store);
    expect(nameOf(await child.propose(intent('add', { by: 1 }, writ as never)))).toBe('committed');
    const presented = { writ: ((await payloads(store, 'c'))[0] as any).writs[0], chain: [free] };
    expect(nameOf(await trajectory.propose(intent('add', { by: 1 }, presented as never)))).toBe(
      'invalid_authority',
    );
    await expectSound(store);
  });

  test('of a writ that was only presented brings its chain into the ledger', async () => {
    const kid = attenuate(granted, { subject: helper.publicKey, nonce: 'kid' }, lead.privateKey);
    const { store, trajectory } = await begun();
    const writ = { writ: kid, chain: [granted] };
    await trajectory.delegations.delegate(task({ writ, privateKey: helper.privateKey }));
    expect(await store.blob(writId(kid))).toBeDefined();
    const again = await reopened(store);
    await expectLeft(again, 40, writId(kid));
    await expectLeft(again, 0);
    await expectSound(store);
  });
});

test('an invalid conclusion is an error, and nothing is recorded', async () => {
  const { store, trajectory } = await begun();
  const child = await trajectory.delegations.delegate(task());
  const id = openOf(trajectory);
  expect(await refusal(store, () => trajectory.delegations.conclude('a'.repeat(64)))).toBe(
    'wrong_state',
  );
  expect(await refusal(store, () => trajectory.delegations.conclude(trajectory.id))).toBe(
    'wrong_state',
  );
  expect(await refusal(store, () => trajectory.delegations.answer())).toBe('wrong_state');
  expect(await refusal(store, () => child.delegations.conclude(id))).toBe('wrong_state');
  expect(await refusal(store, () => trajectory.delegations.conclude(id, null as never))).toBe(
    'bad_intent',
  );
  expect(
    await refusal(store, () => trajectory.delegations.conclude(id, { finalAnswer: Number.NaN })),
  ).toBe('not_json');
  expect(
    await refusal(store, () => trajectory.delegations.conclude(id, { finalAnswer: () => 1 })),
  ).not.toBe('answered');
});

test('a conclusion is never older than the answer, for any clock', async () => {
  const { store, clock, trajectory } = await begun();
  const child = await trajectory.delegations.delegate(task());
  clock.forward(120_000);
  await child.delegations.answer();
  clock.forward(-60_000);
  await trajectory.delegations.conclude(openOf(trajectory));
  await trajectory.propose(pay(1, granted));
  const times = (await payloads(store, 't')).map(({ at }) => at.slice(11, 19));
  expect(times).toEqual(['09:00:00', '09:00:00', '09:02:00', '09:02:00']);
  await expectSound(store);
});

describe('a frozen world', () => {
  test('delegates nothing, and concludes open delegations', async () => {
    const { store, trajectory } = await begun();
    const child = await trajectory.delegations.delegate(task());
    const id = openOf(trajectory);
    const waits = await trajectory.propose(intent('ask', { amount: 1 }, worker));
    expect(
      await refusal(store, () => trajectory.delegations.delegate(task({ childTrajectoryId: 'd' }))),
    ).toBe('frozen');
    // The child has a separate state.
    expect(
      nameOf(await child.propose(intent('ask', { amount: 1 }, (await writOf(store)) as never))),
    ).toBe('escalated');
    await trajectory.delegations.conclude(id, { finalAnswer: 1 });
    await trajectory.approvals.approve(pendingOf(waits), DOCTOR);
    await trajectory.delegations.delegate(task({ childTrajectoryId: 'd' }));
    await expectSound(store);
  });

  test('that another process froze, or thawed, is seen', async () => {
    const { store, trajectory } = await begun();
    const other = await reopened(store);
    const waits = await other.propose(intent('ask', { amount: 1 }, worker));
    expect(await refusal(store, () => trajectory.delegations.delegate(task()))).toBe('frozen');
    await other.approvals.reject(pendingOf(waits), { ...DOCTOR, reason: 'no' });
    expect((await trajectory.delegations.delegate(task())).id).toBe('c');
    await expectSound(store);
  });

  test('with an expired approval delegates again', async () => {
    const { store, clock, trajectory } = await begun({ approvals: { timeoutMs: 60_000 } });
    await trajectory.propose(intent('ask', { amount: 1 }, worker));
    clock.forward(60_000);
    await trajectory.delegations.delegate(task());
    expect((await payloads(store, 't')).map(({ kind }) => kind)).toEqual([
      'root',
      'pending_approval',
      'rejection',
      'delegation',
    ]);
    await expectSound(store);
  });

  test('of a footprint stops nothing', async () => {
    const store = new FaultyStore();
    const trajectory = await runtimeOver(store, [apart]).create(apart, {
      trajectoryId: 't',
      writs: [granted, worker],
    });
    await trajectory.propose(intent('ask', { amount: 1 }, worker));
    expect((await trajectory.delegations.delegate(task())).domain).toBe(apart);
    await expectSound(store);
  });
});

test('entries of a delegation are signed as all others are', async () => {
  const { store, trajectory } = await begun({ signer: keysOf(31) });
  await trajectory.delegations.delegate(task());
  const id = openOf(trajectory);
  await trajectory.delegations.conclude(id);
  expect(await verifyStore(store)).toMatchObject([
    { valid: true, entries: 3, signed: 3 },
    { valid: true, entries: 2, signed: 2 },
  ]);
});

test('branches of any depth inherit no delegation, conclusion or answer', async () => {
  const { store, assize, trajectory } = await begun();
  await trajectory.delegations.delegate(task());
  await trajectory.propose(pay(30, granted));
  let source = trajectory;
  for (const name of ['b1', 'b2', 'b3']) {
    const note = `a branch ${name}`;
    const own = writFor(lead.publicKey, { nonce: name, trajectory: name, budget: { usd: 7 } });
    source = await assize.branch(source.id, source.id === 't' ? trajectory.head : source.head, {
      trajectoryId: name,
      note,
      writs: [own, worker],
    });
    expect(source.delegations.open()).toEqual([]);
    expect(await refusal(store, () => source.propose(pay(1, writId(granted))))).toBe(
      'unknown_writ',
    );
    expect(nameOf(await source.propose(pay(1, granted)))).toBe('invalid_authority');
    await expectLeft(source, 7, own);
    await source.propose(intent('add', { by: 1 }, worker));
  }
  expect(source.state()).toMatchObject({ n: 3 });
  const reports = await verifyStore(store);
  expect(reports.map(({ valid, delegated }) => [valid, delegated])).toEqual([
    [true, 1],
    [true, 0],
    [true, 0],
    [true, 0],
    [true, 0],
  ]);
  const again = await reopened(store, 'b3');
  expect(again.state()).toMatchObject({ n: 3 });
  expect(
    nameOf(
      await again.propose(
        pay(
          1,
          writId(writFor(lead.publicKey, { nonce: 'b3', trajectory: 'b3', budget: { usd: 7 } })),
        ),
      ),
    ),
  ).toBe('budget_exhausted');
});

test('a branch cannot start at a delegation', async () => {
  const { store, assize, trajectory } = await begun();
  const child = await trajectory.delegations.delegate(task());
  const start = trajectory.head;
  const end = await trajectory.delegations.conclude(start);
  for (const [name, entry] of [
    ['t', start],
    ['t', end.id],
    ['c', child.head],
  ] as const) {
    const branch = (): Promise<Trajectory> => assize.branch(name, entry, { note: 'n' });
    const error = await branch().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RuntimeError);
    expect(await refusal(store, branch)).toBe('not_found');
  }
});

describe('a commit that follows a delegation', () => {
  test('names the commit before it, not the delegation', async () => {
    const { store, trajectory } = await begun();
    await trajectory.propose(intent('add', { by: 1 }, worker));
    await trajectory.delegations.delegate(task());
    await trajectory.propose(intent('add', { by: 1 }, worker));
    const rows = await allEntries(store, 't');
    expect((await payloads(store, 't'))[3]).toMatchObject({ parent_commit: rows[1]?.id });
    await soundState(store, 't');
  });
});

describe('the authorship of entries in a runtime with a policy', () => {
  test('the child’s root names the policy of its creator', async () => {
    const policy = {
      id: 'p',
      digest: 'e'.repeat(64),
      evaluate: () => ({ decision: 'allow', reasons: [], errors: [] }),
    };
    const { store, trajectory } = await begun({ policy: policy as never });
    await trajectory.delegations.delegate(task());
    expect((await payloads(store, 'c'))[0]).toMatchObject({ policy_hash: policy.digest });
  });
});

test('names that are not given are new ones', async () => {
  const { store, trajectory } = await begun();
  const { childTrajectoryId: _none, ...nameless } = task({
    budget: { usd: 1 },
  }) as DelegationInput & GrantToSign;
  const children = await Promise.all(
    [1, 2, 3].map(() => trajectory.delegations.delegate(nameless as DelegationInput)),
  );
  expect(new Set(children.map(({ id }) => id)).size).toBe(3);
  await expectLeft(trajectory, 97);
  await expectSound(store);
});

test('delegations() returns a copy', async () => {
  const { trajectory } = await begun();
  await trajectory.delegations.delegate(task());
  const before = structuredClone(trajectory.delegations.open());
  const list = trajectory.delegations.open() as any[];
  list[0].payload.task = 'other';
  list[0].payload.writ.budget.usd = 0;
  list.length = 0;
  expect(trajectory.delegations.open()).toEqual(before);
});
