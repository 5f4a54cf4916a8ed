import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { attenuate, issueWrit, type Writ, writId } from '#authority';
import { canonicalize, generateKeys, hashText } from '#canon';
import { type Domain, defineDomain, escalate, invariant, pass } from '#kernel';
import { blobOf, type CommitPayload, type Hash, type LedgerStore, type Patch } from '#ledger';
import { deskOf, FaultyStore, payloads } from '../../../../tests/support/ledger/desk.ts';
import { ChainWriter, commitMembers, rootMembers } from '../../../../tests/support/ledger/rows.ts';
import {
  HandClock,
  intent,
  operator,
  runtimeOver,
  START,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';
import { Assize } from './assize.ts';
import { verifyStore } from './inspect/verify.ts';
import type { AssizeOptions } from './options.ts';
import type { ProposalInput } from './records/intent.ts';
import type { Ruling } from './records/ruling.ts';
import type { Trajectory } from './trajectory.ts';

const holder = generateKeys(new Uint8Array(32).fill(31));
const between = generateKeys(new Uint8Array(32).fill(32));
const worker = writFor('agent');
const held = writFor(holder.publicKey);
const desk = deskOf();
const DOCTOR = { principal: 'dr-who', method: 'test' };

/**
 * A desk with counselors that may hold keys, and with escalations that have details which not every
 * caller may see.
 */
const ward = defineDomain<any, any>({
  name: 'ward',
  version: '1',
  state: z.object({ n: z.number(), other: z.number() }),
  initial: { n: 0, other: 0 },
  processes: { work: { writes: ['/n'] } },
  roles: { worker: { processes: ['work'] } },
  actions: {
    ask: {
      process: 'work',
      args: z.object({ amount: z.number(), why: z.string() }),
      apply: (state: any, { amount }: any) => {
        state.n += amount;
      },
    },
  } as never,
  invariants: [invariant('ASK', ['/n'], ({ n }) => (n < 5 ? pass : escalate(`${n} for xylitol`)))],
  counselors: {
    md: (name: string) =>
      name.startsWith('dr-') || name === holder.publicKey || name === between.publicKey,
  },
});

async function begun(
  domain: Domain = desk,
  options: Partial<AssizeOptions> = {},
): Promise<{ store: MemoryStore; clock: HandClock; trajectory: Trajectory }> {
  const store = new MemoryStore();
  const clock = new HandClock();
  const assize = runtimeOver(store, [domain], { ...options, ports: { clock, ...options.ports } });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [worker, held] });
  return { store, clock, trajectory };
}

function codeOf(answer: Promise<unknown>): Promise<string> {
  return answer.then(
    (given) => `it was ${JSON.stringify(given)}`,
    (error) => error.code ?? String(error),
  );
}

/** The code of the thrown error, after a check that nothing was recorded or cached. */
async function refusal(
  store: LedgerStore,
  trajectory: Trajectory,
  attempt: () => Promise<unknown>,
): Promise<string> {
  const before = [await payloads(store, 't'), trajectory.length, trajectory.state()];
  const code = await codeOf(attempt());
  expect([await payloads(store, 't'), trajectory.length, trajectory.state()]).toEqual(before);
  return code;
}

function pendingOf(ruling: Ruling): Hash {
  if (ruling.ruling !== 'escalated') throw new Error(`it was ${JSON.stringify(ruling)}`);
  return ruling.pending;
}

test('a signer in the writ chain of a puppet resolves none of its proposals', async () => {
  const puppet = attenuate(held, { subject: 'puppet', nonce: 'p' }, holder.privateKey);
  const middle = attenuate(held, { subject: between.publicKey, nonce: 'm' }, holder.privateKey);
  const far = attenuate(middle, { subject: 'far', nonce: 'f' }, between.privateKey);
  const asks: [ProposalInput['writ'], readonly string[]][] = [
    [puppet, [holder.publicKey, 'puppet']],
    [{ writ: far, chain: [middle, held] }, [holder.publicKey, between.publicKey, 'far']],
  ];
  for (const [writ, refused] of asks) {
    const { store, trajectory } = await begun(ward);
    const id = pendingOf(
      await trajectory.propose(intent('ask', { amount: 9, why: '' }, worker, { writ })),
    );
    const again = await runtimeOver(store, [ward]).open('t');
    for (const open of [trajectory, again]) {
      for (const principal of refused) {
        const by = { principal, method: 'test', reason: 'r' };
        const approve = (): Promise<Ruling> =>
          open.approvals.approve(id, { ...by, override: true });
        expect(await refusal(store, open, approve)).toBe('unauthorised_counselor');
        expect(await refusal(store, open, () => open.approvals.reject(id, by))).toBe(
          'unauthorised_counselor',
        );
      }
    }
    expect(await again.approvals.approve(id, { ...DOCTOR, override: true })).toMatchObject({
      ruling: 'committed',
    });
  }
});

test('a frozen caller learns nothing about the pending proposal', async () => {
  const { trajectory } = await begun(ward);
  const waits = await trajectory.propose(intent('ask', { amount: 9, why: 'zebra' }, worker));
  expect(waits).toMatchObject({ ruling: 'escalated', detail: '9 for xylitol' });
  const answer = await trajectory.propose(intent('ask', { amount: 1, why: '' }, held));
  expect(answer).toMatchObject({ ruling: 'frozen', by: pendingOf(waits) });
  expect(JSON.stringify(answer)).not.toMatch(/xylitol|zebra|ASK|agent/);
});

test('the next proposal records an expired approval and is then adjudicated', async () => {
  const { store, clock, trajectory } = await begun(desk, { approvals: { timeoutMs: 60_000 } });
  const id = pendingOf(await trajectory.propose(intent('ask', { amount: 5 }, worker)));
  clock.forward(59_999);
  expect(await trajectory.propose(intent('add', { by: 1 }, worker))).toMatchObject({
    ruling: 'frozen',
  });
  clock.forward(1);
  expect(await trajectory.propose(intent('add', { by: 1 }, worker))).toMatchObject({
    ruling: 'committed',
  });
  const entries = await payloads(store, 't');
  expect(entries).toMatchObject([
    { kind: 'root' },
    { kind: 'pending_approval' },
    { kind: 'rejection', reason: 'expired', resolves: id, at: '2026-03-23T09:01:00.000000Z' },
    { kind: 'commit', action: { name: 'add' } },
  ]);
  expect(trajectory.approvals.pending()).toEqual([]);
  expect(trajectory.state()).toMatchObject({ n: 1, asked: 0 });
  expect(await codeOf(trajectory.approvals.approve(id, DOCTOR))).toBe('not_pending');
  expect(await verifyStore(store)).toMatchObject([{ valid: true, open: 0 }]);
});

describe('options that would make an unusable ledger are refused', () => {
  const anchors = [operator.publicKey];
  test.each<[string, object]>([
    ['approvals open for no time', { anchors, approvals: { timeoutMs: 0 } }],
    ['for less than none', { anchors, approvals: { timeoutMs: -5 } }],
    ['for no number', { anchors, approvals: { timeoutMs: Number.NaN } }],
    ['for ever', { anchors, approvals: { timeoutMs: Number.POSITIVE_INFINITY } }],
    ['no anchor', { anchors: [] }],
    ['no anchors', {}],
  ])('%s', (_what, options) => {
    const make = (): Assize =>
      new Assize({ store: new MemoryStore(), domains: [desk], ...options } as never);
    expect(make).toThrow(
      expect.objectContaining({
        name: 'RuntimeError',
        code: 'bad_argument',
        message: expect.stringMatching(/timeoutMs|anchor/),
      }),
    );
  });
});

describe('an observation by oracle key', () => {
  const oracle_key = hashText('question');
  const seen = (value: unknown, key = oracle_key): ProposalInput =>
    intent('keep', { value: null }, worker, {
      observations: [{ name: 'seen', value, oracle_key: key }],
    });

  async function answered(given: boolean): Promise<{ store: MemoryStore; trajectory: Trajectory }> {
    const store = new MemoryStore();
    await store.oraclePut({ key: oracle_key, answer: canonicalize({ yes: 1 }), at: START });
    const assize = runtimeOver(store, [desk], given ? { oracle: store } : {});
    return { store, trajectory: await assize.create(desk, { trajectoryId: 't', writs: [worker] }) };
  }

  test.each<[string, boolean, ProposalInput]>([
    ['that the log does not have', true, seen({ yes: 1 }, hashText('other'))],
    ['that was answered otherwise', true, seen({ yes: 2 })],
    ['without an oracle log', false, seen({ yes: 1 })],
  ])('%s is observation_missing, and nothing is recorded', async (_what, given, input) => {
    const { store, trajectory } = await answered(given);
    for (const idempotencyKey of [undefined, 'k']) {
      const asked = idempotencyKey === undefined ? input : { ...input, idempotencyKey };
      expect(await refusal(store, trajectory, () => trajectory.propose(asked))).toBe(
        'observation_missing',
      );
    }
  });

  test('with the answer that was given is committed', async () => {
    const { store, trajectory } = await answered(true);
    expect(await trajectory.propose(seen({ yes: 1 }))).toMatchObject({ ruling: 'committed' });
    const payload = (await payloads(store, 't'))[1] as CommitPayload;
    expect(payload).toMatchObject({
      observations: [{ name: 'seen', oracle_key, value: { salted: true } }],
    });
    const blob = await store.blob(blobOf(payload.observations[0]!.value as never)!);
    expect(JSON.parse(blob as string)).toMatchObject({ value: hashText(canonicalize({ yes: 1 })) });
    expect(trajectory.state()).toMatchObject({ data: [{ yes: 1 }] });
  });
});

describe('a name over 512 characters is bad_intent, and nothing is recorded', () => {
  const long = 'x'.repeat(513);
  const inputs: [string, (text: string) => ProposalInput][] = [
    ['action', (text) => intent(text, {}, worker)],
    ['role', (text) => intent('add', { by: 1 }, worker, { role: text })],
    [
      'role with parameters',
      (text) => intent('add', { by: 1 }, worker, { role: { name: text, params: {} } }),
    ],
    [
      'role parameter',
      (text) =>
        intent('put', { paper: 'p' }, worker, { role: { name: 'filer', params: { box: text } } }),
    ],
    ['idempotency key', (text) => intent('add', { by: 1 }, worker, { idempotencyKey: text })],
  ];
  test.each(inputs)('%s', async (_what, input) => {
    const { store, trajectory } = await begun();
    expect(await refusal(store, trajectory, () => trajectory.propose(input(long)))).toBe(
      'bad_intent',
    );
    expect(await trajectory.propose(input(long.slice(1)))).toMatchObject({
      ruling: expect.stringMatching(/^(committed|rejected)$/),
    });
  });

  test('name of a role parameter', async () => {
    const { store, trajectory } = await begun();
    const role = { name: 'worker', params: { [long]: 'x' } };
    const attempt = (): Promise<Ruling> =>
      trajectory.propose(intent('add', { by: 1 }, worker, { role }));
    expect(await refusal(store, trajectory, attempt)).toBe('bad_intent');
  });
});

test('a writ from a foreign anchor is bad_writ, and nothing is recorded', async () => {
  const {
    issuer: _ours,
    parent: _none,
    v: _one,
    signature: _signed,
    ...grant
  } = writFor(holder.publicKey);
  const foreign = issueWrit({ ...grant, issuer: between.publicKey }, between.privateKey);
  const child = attenuate(foreign, { subject: 'agent', nonce: 'c' }, holder.privateKey);
  const { store, trajectory } = await begun();
  for (const writ of [
    foreign,
    child,
    { writ: child, chain: [foreign] },
    { writ: child, chain: [held] },
  ]) {
    for (const rest of [{ writ }, { writ, idempotencyKey: 'k' }]) {
      const attempt = (): Promise<Ruling> =>
        trajectory.propose(intent('add', { by: 1 }, worker, rest));
      expect(await refusal(store, trajectory, attempt)).toBe('bad_writ');
    }
  }
  expect(await codeOf(runtimeOver(store, [desk]).create(desk, { writs: [foreign] }))).toBe(
    'bad_writ',
  );
});

/** A store that returns the given blobs. */
class BlobStore extends FaultyStore {
  override async blob(hash: Hash): Promise<string | undefined> {
    return this.change(hash, await super.blob(hash));
  }
  change: (hash: Hash, text: string | undefined) => string | undefined = (_hash, text) => text;
}

describe('verification of the writs of a ledger', () => {
  const child = attenuate(held, { subject: 'clerk', nonce: 'c' }, holder.privateKey);

  async function withChild(change: BlobStore['change']): Promise<BlobStore> {
    const { store, trajectory } = await begun();
    expect(await trajectory.propose(intent('add', { by: 1 }, child))).toMatchObject({
      ruling: 'committed',
    });
    const changed = new BlobStore(store);
    expect(await verifyStore(changed)).toMatchObject([{ valid: true }]);
    changed.change = change;
    return changed;
  }

  const faultOf = async (store: LedgerStore): Promise<unknown> =>
    (await verifyStore(store))[0]?.fault;

  test('reports writ_missing when a child’s blob is gone', async () => {
    const store = await withChild((hash, text) => (hash === writId(child) ? undefined : text));
    expect(await faultOf(store)).toMatchObject({
      trajectory_id: 't',
      seq: 1,
      code: 'writ_missing',
    });
    expect(await codeOf(runtimeOver(store, [desk]).open('t'))).toBe('invalid_ledger');
  });

  const forgeries: [string, () => string][] = [
    ['to another text', () => 'x'],
    ['to the same writ for another', () => canonicalize({ ...child, subject: 'other' })],
    ['to another writ that holds', () => canonicalize(held)],
  ];
  const forged = (other: () => string): Promise<BlobStore> =>
    withChild((hash, text) => (hash === writId(child) ? other() : text));

  test.each(forgeries)(
    'reports a child’s blob that was changed %s, and it is not opened',
    async (_what, other) => {
      const store = await forged(other);
      expect(await faultOf(store)).toMatchObject({
        trajectory_id: 't',
        seq: 1,
        code: expect.stringMatching(/^writ_/),
      });
      expect(await codeOf(runtimeOver(store, [desk]).open('t'))).toBe('invalid_ledger');
    },
  );

  test.each(forgeries)('reports writ_tampered when it was changed %s', async (_what, other) => {
    expect(await faultOf(await forged(other))).toMatchObject({ code: 'writ_tampered' });
  });

  test('reports writ_tampered when a writ of the root entry was changed', async () => {
    const chain = new ChainWriter('t');
    chain.add('root', { ...rootMembers({}), writs: [held, { ...child, subject: 'other' }] });
    const changed = writId({ ...child, subject: 'other' });
    chain.add('commit', commitMembers([], { writ_id: changed }));
    const store = new MemoryStore();
    await store.commit({ entries: chain.rows, blobs: [] });
    expect(await faultOf(store)).toMatchObject({ trajectory_id: 't', code: 'writ_tampered' });
  });

  const budgeted = writFor(holder.publicKey, { trajectory: 't', budget: { usd: 10 } });
  const heir = (nonce: string): Writ =>
    attenuate(budgeted, { subject: 'clerk', nonce }, holder.privateKey);
  async function spending(...costs: [Writ, number][]): Promise<MemoryStore> {
    const chain = new ChainWriter('t');
    const writs = [...new Set([budgeted, ...costs.map(([writ]) => writ)])];
    chain.add('root', { ...rootMembers({}), writs });
    for (const [writ, usd] of costs)
      chain.add('commit', commitMembers([], { writ_id: writId(writ), budget_cost: { usd } }));
    const store = new MemoryStore();
    await store.commit({ entries: chain.rows, blobs: [] });
    return store;
  }

  test('reports overspent if commits exceed the budget, also by all children', async () => {
    const [one, two] = [heir('1'), heir('2')];
    expect(await verifyStore(await spending([budgeted, 6], [budgeted, 4]))).toMatchObject([
      { valid: true },
    ]);
    expect(await verifyStore(await spending([one, 6], [two, 4]))).toMatchObject([{ valid: true }]);
    const over: [Writ, number][][] = [
      [
        [budgeted, 6],
        [budgeted, 5],
      ],
      [
        [one, 6],
        [two, 5],
      ],
      [
        [one, 6],
        [budgeted, 5],
      ],
    ];
    for (const costs of over) {
      expect(await verifyStore(await spending(...costs))).toMatchObject([
        { valid: false, fault: { trajectory_id: 't', code: 'overspent' } },
      ]);
    }
  });
});

describe('opening a ledger that another program wrote', () => {
  const domain = { name: desk.name, version: desk.version, hash: desk.hash };

  async function written(initial: object, ...patches: Patch[]): Promise<MemoryStore> {
    const chain = new ChainWriter('t');
    chain.add('root', { ...rootMembers({ ...desk.initial, ...initial }), domain });
    for (const patch of patches) chain.add('commit', commitMembers([patch]));
    const store = new MemoryStore();
    await store.commit({ entries: chain.rows, blobs: [] });
    expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
    return store;
  }
  const opened = (store: LedgerStore): Promise<Trajectory> => runtimeOver(store, [desk]).open('t');

  test('with a state that the domain can produce succeeds', async () => {
    const store = await written({}, { op: 'replace', path: '/n', value: 10 });
    expect((await opened(store)).state()).toMatchObject({ n: 10 });
  });

  test.each<[string, object, Patch[]]>([
    ['breaks an invariant', {}, [{ op: 'replace', path: '/n', value: 11 }]],
    ['needs an approval that is not there', {}, [{ op: 'replace', path: '/asked', value: 5 }]],
    ['broke one from the beginning', { n: 11 }, []],
    ['does not fit the schema', {}, [{ op: 'replace', path: '/n', value: 'ten' }]],
    ['has more than the schema', {}, [{ op: 'add', path: '/more', value: 1 }]],
    ['has less than the schema', {}, [{ op: 'remove', path: '/by' }]],
  ])('with a state that %s is invalid_ledger', async (_what, initial, patches) => {
    const store = await written(initial, ...patches);
    expect(await codeOf(opened(store))).toBe('invalid_ledger');
  });

  test('with a state that breaks an invariant by a recorded override succeeds', async () => {
    const { store, trajectory } = await begun();
    const id = pendingOf(await trajectory.propose(intent('ask', { amount: 5 }, worker)));
    const replacement = [{ op: 'replace', path: '/n', value: 11 }] as const;
    await trajectory.approvals.approve(id, { ...DOCTOR, replacement, override: true });
    expect((await opened(store)).state()).toMatchObject({ n: 11 });
    const begunSo = new MemoryStore();
    const initial = { ...desk.initial, n: 11 };
    await runtimeOver(begunSo, [desk]).create(desk, { trajectoryId: 't', initial, override: true });
    expect((await opened(begunSo)).state()).toMatchObject({ n: 11 });
  });
});

describe('repeating an approved proposal with its key answers committed', () => {
  const input = intent('ask', { amount: 5 }, worker, { idempotencyKey: 'k' });

  async function approved(): Promise<{
    store: MemoryStore;
    trajectory: Trajectory;
    answer: Ruling;
  }> {
    const { store, trajectory } = await begun();
    const answer = await trajectory.approvals.approve(
      pendingOf(await trajectory.propose(input)),
      DOCTOR,
    );
    expect(answer).toMatchObject({ ruling: 'committed' });
    return { store, trajectory, answer };
  }

  test('where it was approved', async () => {
    const { store, trajectory, answer } = await approved();
    expect(await trajectory.propose(input)).toEqual(answer);
    expect(await payloads(store, 't')).toHaveLength(3);
  });

  test('after it was opened again', async () => {
    const { store, answer } = await approved();
    const again = await runtimeOver(store, [desk]).open('t');
    expect(await again.propose(input)).toEqual(answer);
    expect(await payloads(store, 't')).toHaveLength(3);
  });
});

test('pending() returns nothing that changes the pending proposal', async () => {
  const { store, trajectory } = await begun();
  const id = pendingOf(await trajectory.propose(intent('ask', { amount: 5 }, worker)));
  const before = structuredClone(trajectory.approvals.pending());
  const list = trajectory.approvals.pending() as any[];
  const { payload } = list[0];
  const changes = [
    () => (payload.proposal.action.args.amount = 99),
    () => (payload.proposal.delta.state.length = 0),
    () => (payload.freezes = []),
    () => (payload.channel = 'clerk'),
  ];
  for (const change of changes) expect(change).toThrow(TypeError);
  list.length = 0;
  expect(trajectory.approvals.pending()).toEqual(before);
  expect(await trajectory.propose(intent('add', { by: 1 }, worker))).toMatchObject({
    ruling: 'frozen',
  });
  const byClerk = trajectory.approvals.approve(id, { principal: 'clerk-1', method: 'test' });
  expect(await codeOf(byClerk)).toBe('unauthorised_counselor');
  expect(await trajectory.approvals.approve(id, DOCTOR)).toMatchObject({ ruling: 'committed' });
  expect(trajectory.state()).toMatchObject({ asked: 5, approved: 5 });
  expect((await payloads(store, 't'))[2]).toMatchObject({ action: { args: { amount: 5 } } });
});
