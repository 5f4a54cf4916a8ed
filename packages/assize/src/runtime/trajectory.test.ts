import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { attenuate, issueWrit, type Policy, ruleTable, type Writ } from '#authority';
import type { Json } from '#base';
import { canonicalize, generateKeys, hashText } from '#canon';
import { defineDomain } from '#kernel';
import type { LedgerStore, RejectionPayload } from '#ledger';
import { openStore } from '#stores';
import { cases } from '../../../../tests/support/cases.ts';
import {
  allEntries,
  deskOf,
  FaultyStore,
  payloads,
  soundState,
} from '../../../../tests/support/ledger/desk.ts';
import { keysOf } from '../../../../tests/support/ledger/rows.ts';
import {
  HandClock,
  intent,
  operator,
  runtimeOver,
  START,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';
import { jsonValue } from '../../../../tests/support/models/json.ts';
import type { Assize } from './assize.ts';
import type { CreateOptions } from './create.ts';
import { verifyStore } from './inspect/verify.ts';
import type { AssizeOptions } from './options.ts';
import type { ProposalInput } from './records/intent.ts';
import type { Ruling } from './records/ruling.ts';
import type { Trajectory } from './trajectory.ts';

const worker = writFor('agent');
const desk = deskOf();
const MINUTE = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'assize-trajectory-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function begun(options: Partial<AssizeOptions> = {}, create: CreateOptions = {}) {
  const store = new FaultyStore();
  const clock = new HandClock();
  const assize = runtimeOver(store, [desk], { ...options, ports: { clock, ...options.ports } });
  const trajectory = await assize.create(desk, { trajectoryId: 't', writs: [worker], ...create });
  return { store, clock, assize, trajectory };
}

const add = (by = 1, rest: Partial<ProposalInput> = {}): ProposalInput =>
  intent('add', { by }, worker, rest);
const reasonOf = (ruling: Ruling): string =>
  ruling.ruling === 'rejected' ? ruling.reason : ruling.ruling;

/** The code of an error, after a check that nothing was recorded. */
async function refusal(store: LedgerStore, attempt: () => Promise<unknown>): Promise<string> {
  const before = await Promise.all(
    (await store.trajectories()).map(({ trajectory_id }) => allEntries(store, trajectory_id)),
  );
  const error = await attempt().then(
    () => new Error('it was answered'),
    (caught: unknown) => caught as Error,
  );
  const after = await Promise.all(
    (await store.trajectories()).map(({ trajectory_id }) => allEntries(store, trajectory_id)),
  );
  expect(after).toEqual(before);
  return (error as { code?: string }).code ?? String(error);
}

describe.each(['memory:', `sqlite:${join(folder, 'serial.db')}`])('on %s', (url) => {
  test('concurrent proposals are ruled on one after another, one entry each', async () => {
    const store = await openStore(url);
    const trajectory = await runtimeOver(store, [desk]).create(desk, {
      trajectoryId: 't',
      writs: [worker],
    });
    const rulings = await Promise.all(
      Array.from({ length: 200 }, (_, i) => trajectory.propose(add(i % 4 === 3 ? -1 : 1))),
    );
    const seqs = rulings.map((ruling) => (ruling.ruling === 'frozen' ? -1 : ruling.entry.seq));
    // In the order of the calls, without a gap.
    expect(seqs).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    let n = 0;
    for (const [i, ruling] of rulings.entries()) {
      const by = i % 4 === 3 ? -1 : 1;
      expect(ruling.ruling).toBe(n + by <= 10 ? 'committed' : 'rejected');
      if (ruling.ruling === 'committed') n += by;
    }
    expect(await soundState(store, 't')).toContain(`"n":${n}`);
    expect((await store.head('t'))?.id).toBe(trajectory.head);
    await store.close();
  });
});

test('an entry records the intent, its writ and its changes', async () => {
  const { store, trajectory } = await begun();
  await trajectory.propose(add(2, { observations: [{ name: 'seen', value: 'x' }] }));
  await trajectory.propose(add(99));
  const [root, commit, rejection] = await payloads(store, 't');
  expect(root).toMatchObject({
    kind: 'root',
    at: START,
    domain: { name: 'desk', version: '1', hash: desk.hash },
    parent: null,
  });
  expect(commit).toMatchObject({
    kind: 'commit',
    parent_commit: (await allEntries(store, 't'))[0]?.id,
    action: { name: 'add', role: { name: 'worker', params: {} }, args: { by: 2 } },
    delta: { state: [{ op: 'replace', path: '/n', value: 2 }], effects: [], beliefs: [] },
    observations: [{ name: 'seen', value: 'x' }],
  });
  expect(rejection).toMatchObject({
    kind: 'rejection',
    reason: 'invariant_rejected',
    invariant_id: 'TEN_AT_MOST',
    intent: { action: 'add', args: { by: 99 } },
  });
});

describe('a writ that does not give the right', () => {
  const lead = keysOf(21);
  const parent = writFor(lead.publicKey, { actions: ['add'], scopes: ['role:worker'] });
  const kid = attenuate(parent, { subject: 'kid', nonce: 'k' }, lead.privateKey);
  const stranger = generateKeys(new Uint8Array(32).fill(99));
  const { signature: _s, v: _v, parent: _p, ...grant } = worker;
  const foreign = issueWrit({ ...grant, issuer: stranger.publicKey } as never, stranger.privateKey);
  const wrong: [string, Partial<ProposalInput>, RegExp][] = [
    ['expired at this instant', { writ: writFor('x', { expires: START }) }, /expired/],
    [
      'not yet valid',
      { writ: writFor('x', { not_before: '2026-03-23T09:00:00.000001Z' }) },
      /is valid from/,
    ],
    ['of another subject', { principal: 'somebody' }, /is for agent/],
    [
      'of another trajectory',
      { writ: writFor('x', { trajectory: 'other' }) },
      /for trajectory other/,
    ],
    [
      'without the action',
      { writ: writFor('x', { actions: ['pay', 'ad', 'add:*', 'ADD'] }) },
      /does not grant the action/,
    ],
    ['without any action', { writ: writFor('x', { actions: [] }) }, /does not grant the action/],
    [
      'without the scope',
      { writ: writFor('x', { scopes: ['role:filer:**', 'role:worke', 'role'] }) },
      /does not grant the scope/,
    ],
    ['for a role that does not perform it', { role: 'asker' }, /does not perform/],
  ];
  test.each(wrong)('%s: one entry that says so, and nothing else', async (_what, rest, detail) => {
    const { store, trajectory } = await begun();
    const ruling = await trajectory.propose(add(1, rest));
    expect(ruling).toMatchObject({
      ruling: 'rejected',
      reason: 'invalid_authority',
      detail: expect.stringMatching(detail),
    });
    const entries = await payloads(store, 't');
    expect(entries).toHaveLength(2);
    expect((entries[1] as RejectionPayload).writ_id).toMatch(/^[0-9a-f]{64}$/);
    expect(trajectory.state()).toMatchObject({ n: 0 });
    // An invalid writ is not remembered, and the ledger opens.
    expect((await runtimeOver(store, [desk]).open('t')).length).toBe(2);
  });

  const none: [string, unknown, string][] = [
    ['nothing', undefined, 'bad_intent'],
    ['null', null, 'bad_intent'],
    ['a number', 7, 'bad_intent'],
    ['a list', [], 'bad_writ'],
    ['an empty object', {}, 'bad_writ'],
    ['an id that is not known', 'a'.repeat(64), 'unknown_writ'],
    ['any text', 'agent', 'unknown_writ'],
    ['the name of something every object has', '__proto__', 'unknown_writ'],
    ['a writ of another version', { ...worker, v: 2 }, 'bad_writ'],
    ['a writ with an unknown member', { ...worker, caveat: 1 }, 'bad_writ'],
    ['a writ without a list', { ...worker, max_depth: undefined }, 'bad_writ'],
    ['a chain that is not a list', { writ: worker, chain: 'x' }, 'bad_intent'],
    ['a chain with an element that is not a writ', { writ: kid, chain: [{}] }, 'bad_writ'],
    ['a writ inside nothing', { writ: null, chain: [] }, 'bad_writ'],
    ['a writ of a foreign anchor', foreign, 'bad_writ'],
    ['a writ that was tampered with', { ...worker, max_depth: 7 }, 'bad_writ'],
    ['a writ signed by nobody', { ...worker, signature: '0'.repeat(128) }, 'bad_writ'],
    ['a writ whose parent is not shown', kid, 'bad_writ'],
    ['a writ whose parent is another', { writ: kid, chain: [worker] }, 'bad_writ'],
    ['a writ whose chain is too long', { writ: kid, chain: new Array(9).fill(parent) }, 'bad_writ'],
  ];
  test.each(none)(
    '%s is not a valid writ: an error, nothing recorded',
    async (_what, writ, code) => {
      const { store, trajectory } = await begun();
      expect(await refusal(store, () => trajectory.propose(add(1, { writ: writ as Writ })))).toBe(
        code,
      );
    },
  );

  test('one that holds, with its chain, does', async () => {
    const { trajectory } = await begun();
    expect(
      await trajectory.propose(add(1, { writ: { writ: kid, chain: [parent] } })),
    ).toMatchObject({
      ruling: 'committed',
    });
  });
});

describe('a policy', () => {
  const table = ruleTable({
    id: 'table',
    otherwise: 'deny',
    rules: [
      { id: 'no-two', effect: 'deny', actions: ['add'], where: [{ path: '/by', is: 2 }] },
      {
        id: 'ask-three',
        effect: 'needs_approval',
        actions: ['add'],
        where: [{ path: '/by', min: 3 }],
      },
      { id: 'rest', effect: 'allow', actions: ['**'] },
    ],
  });
  const made = (evaluate: Policy['evaluate'], digest = hashText('p')): Policy => ({
    id: 'p',
    digest,
    evaluate,
  });

  test('allows, denies, asks; its answer stands in the entry', async () => {
    const { store, trajectory } = await begun({ policy: table });
    const rulings = [await trajectory.propose(add(1)), await trajectory.propose(add(2))];
    expect(rulings.map(reasonOf)).toEqual(['committed', 'policy_denied']);
    // If it escalates and an invariant rejects, the rejection wins.
    expect(await trajectory.propose(add(50))).toMatchObject({
      ruling: 'rejected',
      invariantId: 'TEN_AT_MOST',
    });
    const asked = await trajectory.propose(add(3));
    expect(asked).toMatchObject({ ruling: 'escalated', reason: 'policy_needs_approval' });
    await trajectory.approvals.approve(asked.ruling === 'escalated' ? asked.pending : '', {
      principal: 'clerk-1',
      method: 'test',
    });
    const [root, ...entries] = await payloads(store, 't');
    expect(root).toMatchObject({ policy_hash: table.digest });
    const policy = (rule: string, decision: string) => ({
      policy: { digest: table.digest, decision, rule },
    });
    expect(entries).toMatchObject([
      policy('rest', 'allow'),
      policy('no-two', 'deny'),
      policy('ask-three', 'needs_approval'),
      policy('ask-three', 'needs_approval'),
      { kind: 'commit', ...policy('ask-three', 'needs_approval') },
    ]);
  });

  const failing: [string, Policy['evaluate']][] = [
    [
      'throws',
      () => {
        throw new Error('out of order');
      },
    ],
    ['answers later', (async () => ({ decision: 'allow', reasons: [], errors: [] })) as never],
    ['answers nothing', (() => undefined) as never],
    ['reports an error', () => ({ decision: 'allow', reasons: [], errors: ['half of it failed'] })],
    ['decides something else', () => ({ decision: 'perhaps', reasons: [], errors: [] }) as never],
  ];
  test.each(failing)('that %s denies', async (_what, evaluate) => {
    const { store, trajectory } = await begun({ policy: made(evaluate) });
    expect(await trajectory.propose(add())).toMatchObject({
      ruling: 'rejected',
      reason: 'policy_denied',
    });
    await soundState(store, 't');
  });

  test('with an invalid digest is refused before it damages a ledger', async () => {
    expect(() =>
      runtimeOver(new FaultyStore(), [desk], {
        policy: made(() => ({ decision: 'allow', reasons: [], errors: [] }), 'v1'),
      }),
    ).toThrow(/digest/);
  });
});

describe('a signer', () => {
  const signer = keysOf(31);
  test('signs every entry, and all of them hold', async () => {
    const { store, trajectory } = await begun({ signer });
    await trajectory.propose(add());
    const asked = await trajectory.propose(intent('ask', { amount: 1 }, worker));
    await trajectory.approvals.reject(asked.ruling === 'escalated' ? asked.pending : '', {
      principal: 'dr-who',
      method: 'test',
      reason: 'r',
    });
    expect(await verifyStore(store)).toMatchObject([{ valid: true, entries: 4, signed: 4 }]);
    // Another runtime without a signer can read, and can add no entry.
    const reading = await runtimeOver(store, [desk]).open('t');
    expect(reading.state()).toEqual(trajectory.state());
    await expect(reading.propose(add())).rejects.toMatchObject({ code: 'wrong_signer' });
    expect(await verifyStore(store)).toMatchObject([{ valid: true, entries: 4, signed: 4 }]);
  });
  test('with mismatched keys is refused before it damages a ledger', () => {
    const wrong = { publicKey: keysOf(32).publicKey, privateKey: signer.privateKey };
    expect(() => runtimeOver(new FaultyStore(), [desk], { signer: wrong })).toThrow(
      /must be a pair/,
    );
  });
});

describe('time', () => {
  test('never goes back, however far the clock is set back', async () => {
    const { store, clock, trajectory } = await begun();
    clock.forward(10 * MINUTE);
    await trajectory.propose(add());
    clock.forward(-5 * MINUTE);
    await trajectory.propose(add());
    await trajectory.propose(add(99));
    clock.forward(-1_000 * MINUTE);
    await trajectory.propose(add());
    expect(trajectory.state()).toMatchObject({ n: 3 });
    const times = (await payloads(store, 't')).map(({ at }) => at);
    expect(times).toEqual([START, ...new Array(4).fill('2026-03-23T09:10:00.000000Z')]);
  });

  test('of an approval is that of the resolution', async () => {
    const { store, clock, trajectory } = await begun();
    const asked = await trajectory.propose(intent('ask', { amount: 1 }, worker));
    const id = asked.ruling === 'escalated' ? asked.pending : '';
    clock.forward(-6 * MINUTE);
    const resolution = { principal: 'dr-who', method: 'test', reason: 'r' };
    expect(await trajectory.approvals.approve(id, resolution)).toMatchObject({
      ruling: 'committed',
    });
    expect((await payloads(store, 't'))[2]?.at).toBe(START);
  });

  test('of a branch is not before its source’s', async () => {
    const { store, clock, assize, trajectory } = await begun();
    clock.forward(MINUTE);
    await trajectory.propose(add());
    clock.forward(-2 * MINUTE);
    await assize.branch('t', trajectory.head, { trajectoryId: 'b', note: 'n' });
    expect((await payloads(store, 'b'))[0]?.at).toBe('2026-03-23T09:01:00.000000Z');
    expect((await verifyStore(store)).every(({ valid }) => valid)).toBe(true);
  });
});

describe('an invalid intent', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const deep = (depth: number): unknown => (depth === 0 ? 0 : [deep(depth - 1)]);
  const bad: [string, unknown, string][] = [
    ['undefined', undefined, 'bad_intent'],
    ['null', null, 'bad_intent'],
    ['a text', 'add', 'bad_intent'],
    ['no action', add(1, { action: undefined as never }), 'bad_intent'],
    ['an empty action', add(1, { action: '' }), 'bad_intent'],
    ['an action that is not a string', add(1, { action: ['add'] as never }), 'bad_intent'],
    ['a lone surrogate as action', add(1, { action: '\ud800' }), 'not_json'],
    ['a role that is null', add(1, { role: null as never }), 'bad_intent'],
    ['a role without parameters', add(1, { role: { name: 'worker' } as never }), 'bad_intent'],
    [
      'parameters that are not strings',
      add(1, { role: { name: 'filer', params: { box: 1 } } as never }),
      'bad_intent',
    ],
    [
      'a list of parameters',
      add(1, { role: { name: 'filer', params: [1] } as never }),
      'bad_intent',
    ],
    ['no arguments', add(1, { args: undefined }), 'bad_intent'],
    ['a function', add(1, { args: () => 1 }), 'not_json'],
    ['a bigint', add(1, { args: { by: 1n } }), 'not_json'],
    ['a symbol', add(1, { args: { by: Symbol('x') } }), 'not_json'],
    ['NaN', add(1, { args: { by: Number.NaN } }), 'not_json'],
    ['an integer that is not exact', add(1, { args: { by: 2 ** 53 } }), 'not_json'],
    ['a date', add(1, { args: new Date(0) }), 'not_json'],
    ['a map', add(1, { args: new Map() }), 'not_json'],
    ['what is cyclic', add(1, { args: cyclic }), 'not_json'],
    ['what is too deep', add(1, { args: deep(70) }), 'too_complex'],
    ['what is too large', add(1, { args: { text: 'x'.repeat(2 ** 20) } }), 'too_large'],
    ['a lone surrogate', add(1, { args: { text: 'x\udc00' } }), 'not_json'],
    ['a key with a lone surrogate', add(1, { args: { ['\ud800']: 1 } }), 'not_json'],
    [
      'a getter',
      add(1, {
        args: {
          get by() {
            return 1;
          },
        },
      }),
      'not_json',
    ],
    ['toJSON', add(1, { args: { toJSON: () => ({ by: 1 }) } }), 'not_json'],
    ['a proxy', add(1, { args: new Proxy({ by: 1 }, {}) }), 'not_json'],
    ['a hole', add(1, { args: new Array(2) }), 'not_json'],
    ['observations that are not a list', add(1, { observations: {} as never }), 'bad_intent'],
    ['an observation that is null', add(1, { observations: [null as never] }), 'bad_intent'],
    [
      'an observation without a name',
      add(1, { observations: [{ value: 1 } as never] }),
      'bad_intent',
    ],
    [
      'an observation without a value',
      add(1, { observations: [{ name: 'x' } as never] }),
      'bad_intent',
    ],
    [
      'an oracle key that is not a hash',
      add(1, { observations: [{ name: 'x', value: 1, oracle_key: 'key' }] }),
      'bad_intent',
    ],
    [
      'an oracle key that is undefined',
      add(1, { observations: [{ name: 'x', value: 1, oracle_key: undefined as never }] }),
      'bad_intent',
    ],
    ['a principal that is not a string', add(1, { principal: 7 as never }), 'bad_intent'],
    ['a key that is misspelled', add(1, { idempotencykey: 'once' } as never), 'bad_intent'],
    [
      'a member that is inherited',
      Object.assign(Object.create({ ifUnchange: 1 }), add()),
      'bad_intent',
    ],
    [
      'a role with more',
      add(1, { role: { name: 'worker', params: {}, param: {} } as never }),
      'bad_intent',
    ],
    [
      'an observation with more',
      add(1, { observations: [{ name: 'x', value: 1, sensitiv: true } as never] }),
      'bad_intent',
    ],
    [
      'a condition with more',
      add(1, { precondition: { since: 'a'.repeat(64), places: ['/n'], place: '/data' } as never }),
      'bad_intent',
    ],
  ];
  test.each(bad)(
    '%s: a typed error, nothing recorded, nothing changed',
    async (_what, input, code) => {
      const { store, trajectory } = await begun();
      const found = await refusal(store, () => trajectory.propose(input as ProposalInput));
      expect(found).toBe(code);
      expect(trajectory.length).toBe(1);
      expect(await trajectory.propose(add())).toMatchObject({ ruling: 'committed' });
    },
  );

  test.each<[string, ProposalInput]>([
    ['The arguments', add(1, { args: { text: 'x'.repeat(2 ** 20) } })],
    [
      'The value of an observation',
      add(1, { observations: [{ name: 'x', value: 'x'.repeat(2 ** 20) }] }),
    ],
    [
      'A proposal with its observations',
      add(1, {
        args: { text: 'x'.repeat(2 ** 20 - 200) },
        observations: [{ name: 'x'.repeat(400), value: 1 }],
      }),
    ],
    // 512 bytes each, in the proposal as in the entry. The entry has further content.
    [
      'The entry',
      add(1, {
        observations: Array.from({ length: 2_047 }, () => ({ name: 'x'.repeat(490), value: 1 })),
      }),
    ],
  ])('an oversized input is refused with advice for the caller: %s', async (what, input) => {
    const { trajectory } = await begun();
    await expect(trajectory.propose(input)).rejects.toMatchObject({
      name: 'CanonError',
      code: 'too_large',
      message: `${what} would exceed 1048576 bytes as JSON. Propose less at a time.`,
    });
    expect(trajectory.length).toBe(1);
  });

  test('a canonical but wrong intent is recorded as an entry', async () => {
    const { store, trajectory } = await begun();
    const wrong: [ProposalInput, string][] = [
      [intent('none', {}, worker), 'unknown_tool'],
      [intent('constructor', {}, worker), 'unknown_tool'],
      [intent('__proto__', {}, worker), 'unknown_tool'],
      [add(1, { role: 'nobody' }), 'type_mismatch'],
      [add(1, { role: 'toString' }), 'type_mismatch'],
      [add(1, { role: { name: 'worker', params: { extra: 'x' } } }), 'type_mismatch'],
      [add(1, { role: 'filer' }), 'type_mismatch'],
      [add(1, { args: null }), 'type_mismatch'],
      [add(1, { args: { by: '1' } }), 'type_mismatch'],
      [add(1, { args: { by: 1, more: 1 } }), 'type_mismatch'],
      [add(1, { args: JSON.parse('{"by":1,"__proto__":{"polluted":1}}') }), 'type_mismatch'],
      [intent('fail', {}, worker), 'precondition_failed'],
    ];
    for (const [input, reason] of wrong)
      expect(reasonOf(await trajectory.propose(input)), canonicalize(input.args)).toBe(reason);
    expect(({} as { polluted?: 1 }).polluted).toBeUndefined();
    expect(await soundState(store, 't')).toContain('"n":0');
    expect((await allEntries(store, 't')).length).toBe(wrong.length + 1);
  });

  test('values that look like references and special names round-trip unchanged', async () => {
    const { store, trajectory } = await begun();
    const values: Json[] = [
      { $blob: 'a'.repeat(64), bytes: 1 },
      { $erased: 'a'.repeat(64) },
      JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}'),
      { deep: [{ $blob: 'x' }] },
      'x'.repeat(20_000),
      { $blob: 'x'.repeat(20_000) },
    ];
    for (const value of values) {
      expect(await trajectory.propose(intent('keep', { value }, worker))).toMatchObject({
        ruling: 'committed',
      });
      expect(canonicalize(JSON.parse(await soundState(store, 't')).data)).toBe(canonicalize(value));
      const bare = { ...intent('keep', value, worker) };
      expect(reasonOf(await trajectory.propose(bare))).toBe('type_mismatch');
      const observations = [{ name: 'seen', value }];
      await trajectory.propose(intent('keep', { value: 0 }, worker, { observations }));
      expect(canonicalize(JSON.parse(await soundState(store, 't')).data)).toBe(
        canonicalize([value]),
      );
    }
    const again = await runtimeOver(store, [desk]).open('t');
    expect(canonicalize(again.state())).toBe(await soundState(store, 't'));
  });

  test('for any stored JSON the live state equals the folded state (property)', async () => {
    const run = fc.asyncProperty(
      fc.array(jsonValue, { minLength: 1, maxLength: 6 }),
      async (values) => {
        const { store, trajectory } = await begun();
        for (const value of values) {
          await trajectory.propose(intent('keep', { value }, worker));
          await trajectory.propose(
            intent('keep', { value: 0 }, worker, {
              observations: [
                { name: 'x', value },
                { name: 'y', value },
              ],
            }),
          );
          expect(canonicalize(trajectory.state())).toBe(await soundState(store, 't'));
        }
      },
    );
    await fc.assert(run, { numRuns: cases(150) });
  });

  test('later changes by the caller have no effect', async () => {
    const { store, trajectory } = await begun();
    const value = { list: [1] };
    const observations = [{ name: 'seen', value: { n: 1 } }];
    const role = { name: 'worker', params: {} };
    const answer = trajectory.propose(intent('keep', { value }, worker, { observations, role }));
    value.list.push(2);
    (observations[0] as { value: { n: number } }).value.n = 2;
    role.name = 'asker';
    expect(await answer).toMatchObject({ ruling: 'committed' });
    const state = trajectory.state() as { data: unknown[] };
    state.data.push('mine');
    expect(await soundState(store, 't')).toContain('"data":[{"n":1}]');
    expect(trajectory.state()).toMatchObject({ data: [{ n: 1 }] });
  });
});

describe('beginning', () => {
  const broken = { n: 11, asked: 0, approved: 0, by: '', boxes: {}, data: null };

  test('from a state that breaks an invariant is refused, or says so', async () => {
    const store = new FaultyStore();
    const assize = runtimeOver(store, [desk]);
    expect(await refusal(store, () => assize.create(desk, { initial: broken }))).toBe(
      'invalid_state',
    );
    const trajectory = await assize.create(desk, {
      trajectoryId: 't',
      initial: broken,
      override: true,
      writs: [worker],
    });
    expect((await payloads(store, 't'))[0]).toMatchObject({
      detection_vector: [
        { invariant_id: 'TEN_AT_MOST', result: 'reject', detail: '11 is more than ten' },
        { result: 'pass' },
        { result: 'pass' },
      ],
    });
    expect(await trajectory.propose(intent('keep', { value: 1 }, worker))).toMatchObject({
      ruling: 'rejected',
      invariantId: 'TEN_AT_MOST',
    });
    // A branch of it is adjudicated again.
    expect(await refusal(store, () => assize.branch('t', trajectory.head, { note: 'n' }))).toBe(
      'not_found',
    );
    const root = (await allEntries(store, 't'))[0]?.id as string;
    expect(await refusal(store, () => assize.branch('t', root, { note: 'n' }))).toBe(
      'invalid_state',
    );
    await assize.branch('t', root, { trajectoryId: 'b', note: 'n', override: true });
    expect((await payloads(store, 'b'))[0]).toHaveProperty('detection_vector');
    expect(await trajectory.propose(add(-1))).toMatchObject({ ruling: 'committed' });
  });

  test.each([
    ['unknown, written', 'begun'],
    ['unknown, lost', 'commit_unknown'],
  ] as const)(
    'an uncertain creation (%s) is looked up in the store, with result: %s',
    async (fault, answered) => {
      const { store, assize, trajectory } = await begun();
      const { entry } = (await trajectory.propose(add(1))) as Extract<
        Ruling,
        { ruling: 'committed' }
      >;
      const beginnings = {
        c: () => assize.create(desk, { trajectoryId: 'c', writs: [worker] }),
        b: () => assize.branch('t', entry.id, { trajectoryId: 'b', note: 'n', writs: [worker] }),
      };
      for (const [id, begin] of Object.entries(beginnings)) {
        store.plan = new Map([[store.commits + 1, fault]]);
        const made = await begin().catch((error: { code: string }) => error);
        if (answered !== 'begun') expect(made).toMatchObject({ code: answered, retryable: true });
        const there = answered === 'begun' ? (made as Trajectory) : await begin();
        expect(await there.propose(add(1))).toMatchObject({ ruling: 'committed' });
        expect((await payloads(store, id)).map(({ seq }) => seq)).toEqual([0, 1]);
      }
      for (const id of ['b', 'c']) await soundState(store, id);
    },
  );

  test('where it can’t be asked either, that is said with both reasons', async () => {
    const { store, assize } = await begun();
    store.plan = new Map([[store.commits + 1, 'unknown, written']]);
    store.resolve = () => Promise.reject(new Error('the line is dead'));
    await expect(assize.create(desk, { trajectoryId: 'c' })).rejects.toMatchObject({
      code: 'commit_unknown',
      cause: { errors: [{ message: 'no reply' }, { message: 'the line is dead' }] },
    });
  });

  test('opened with its own domain, it is the one that was opened without', async () => {
    const { assize, trajectory } = await begun();
    expect(await assize.open('t', desk)).toBe(trajectory);
    expect(await assize.open('t', deskOf())).toBe(await assize.open('t'));
  });

  const bad: [string, (assize: Assize) => Promise<unknown>, string][] = [
    [
      'under a name that is taken',
      (assize) => assize.create(desk, { trajectoryId: 't' }),
      'exists',
    ],
    ...['', 'a b', 'a/b', '../a', 'x'.repeat(129), 'é', 'a\u0000', 'a\n'].map(
      (trajectoryId): [string, (assize: Assize) => Promise<unknown>, string] => [
        `under the name ${JSON.stringify(trajectoryId.slice(0, 9))}`,
        (assize) => assize.create(desk, { trajectoryId }),
        'bad_argument',
      ],
    ),
    [
      'under a name that is not a string',
      (assize) => assize.create(desk, { trajectoryId: 7 as never }),
      'bad_argument',
    ],
    [
      'with a state that does not fit',
      (assize) => assize.create(desk, { initial: { n: 'x' } }),
      'invalid_state',
    ],
    [
      'with a state that has more',
      (assize) => assize.create(desk, { initial: { ...broken, n: 1, more: 1 } }),
      'invalid_state',
    ],
    [
      'opened as of another domain',
      (assize) => assize.open('t', deskOf('world', '2')),
      'domain_mismatch',
    ],
    [
      'opened as of a value that is not a domain',
      (assize) => assize.open('t', null as never),
      'domain_mismatch',
    ],
    [
      'with a note that is not a string',
      (assize) => assize.create(desk, { note: 7 as never }),
      'bad_argument',
    ],
    [
      'with a domain that is not the runtime’s',
      (assize) => assize.create(deskOf('world', '2')),
      'domain_mismatch',
    ],
    [
      'with a writ of a foreign anchor',
      (assize) => assize.create(desk, { writs: [foreignWrit()] }),
      'bad_writ',
    ],
    [
      'with a value that is not a writ',
      (assize) => assize.create(desk, { writs: [{} as Writ] }),
      'bad_writ',
    ],
    [
      'with no list of writs',
      (assize) => assize.create(desk, { writs: 'x' as never }),
      'bad_argument',
    ],
    [
      'as a branch of nothing',
      (assize) => assize.branch('t', 'a'.repeat(64), { note: 'n' }),
      'not_found',
    ],
    [
      'as a branch of no trajectory',
      async (assize) => assize.branch('none', (await assize.open('t')).head, { note: 'n' }),
      'not_found',
    ],
    [
      'as a branch without a note',
      async (assize) => assize.branch('t', (await assize.open('t')).head, {} as never),
      'unsupported_type',
    ],
  ];
  function foreignWrit(): Writ {
    const keys = keysOf(77);
    const { signature: _s, v: _v, parent: _p, ...grant } = worker;
    return issueWrit({ ...grant, issuer: keys.publicKey } as never, keys.privateKey);
  }
  test.each(bad)('%s is refused: nothing recorded', async (_what, begin, code) => {
    const { store, assize } = await begun();
    const found = await refusal(store, () => begin(assize));
    if (code === 'unsupported_type') expect(found).toMatch(/^[a-z_]+$/);
    else expect(found).toBe(code);
  });

  test('at a clock that gives no instant is refused', async () => {
    const store = new FaultyStore();
    const assize = runtimeOver(store, [desk], { ports: { clock: { now: () => 'now' } } });
    expect(await refusal(store, () => assize.create(desk))).toBe('bad_argument');
  });

  test('names are drawn at random, and are names', async () => {
    const { assize } = await begun();
    const names = new Set(Array.from({ length: 50 }, () => assize.newTrajectoryId()));
    expect(names.size).toBe(50);
    for (const name of names)
      expect((await assize.create(desk, { trajectoryId: name })).id).toBe(name);
  });
});

describe('branching', () => {
  test('inherits the state and nothing else, and leaves the source alone', async () => {
    const { store, assize, trajectory } = await begun();
    await trajectory.propose(add(3));
    const commit = trajectory.head;
    await trajectory.propose(intent('ask', { amount: 1 }, worker));
    const before = await allEntries(store, 't');
    expect(
      await refusal(store, () => assize.branch('t', trajectory.head, { note: 'a pending' })),
    ).toBe('not_found');
    const branch = await assize.branch('t', commit, { trajectoryId: 'b', note: 'what if' });
    expect(branch.approvals.pending()).toEqual([]);
    expect(await refusal(store, () => branch.propose({ ...add(), writ: 'a'.repeat(64) }))).toBe(
      'unknown_writ',
    );
    expect(await branch.propose(add(4))).toMatchObject({ ruling: 'committed' });
    expect(branch.state()).toMatchObject({ n: 7 });
    expect(trajectory.state()).toMatchObject({ n: 3 });
    expect(await allEntries(store, 't')).toEqual(before);
    expect((await payloads(store, 'b'))[1]).toMatchObject({ parent_commit: commit });
  });

  test('many branches of one state go on independently (property)', async () => {
    const step = fc.record({
      where: fc.nat(3),
      by: fc.integer({ min: -3, max: 3 }),
      box: fc.constantFrom('a', 'b'),
    });
    const run = fc.asyncProperty(fc.array(step, { maxLength: 16 }), async (steps) => {
      const { store, assize, trajectory } = await begun();
      await trajectory.propose(add(1));
      const from = trajectory.head;
      const all = [trajectory];
      for (const name of ['b', 'c', 'd'])
        all.push(
          await assize.branch('t', from, { trajectoryId: name, note: 'n', writs: [worker] }),
        );
      const expected = all.map(() => ({ n: 1, boxes: {} as Record<string, string[]> }));
      for (const [i, { where, by, box }] of steps.entries()) {
        const mine = expected[where] as (typeof expected)[0];
        const ruling = await (all[where] as Trajectory).propose(add(by));
        if (ruling.ruling === 'committed') mine.n += by;
        await (all[where] as Trajectory).propose({
          ...intent('put', { paper: `${i}` }, worker),
          role: { name: 'filer', params: { box } },
        });
        mine.boxes[box] = [...(mine.boxes[box] ?? []), `${i}`];
      }
      for (const [i, open] of all.entries()) {
        expect(open.state()).toMatchObject(expected[i] as object);
        expect(canonicalize(open.state())).toBe(await soundState(store, open.id));
      }
    });
    await fc.assert(run, { numRuns: cases(80) });
  });

  test('a large state is one blob with 20 branches', async () => {
    const hashes = new Set<string>();
    const store = new FaultyStore();
    store.before = ({ blobs }) => {
      for (const { hash } of blobs) hashes.add(hash);
    };
    const boxes = { big: Array.from({ length: 30_000 }, (_, i) => `${i}`.padEnd(100, 'x')) };
    const assize = runtimeOver(store, [desk]);
    const source = await assize.create(desk, {
      trajectoryId: 't',
      initial: { ...desk.initial, boxes },
    });
    for (let i = 0; i < 20; i++) {
      const branch = await assize.branch('t', source.head, {
        trajectoryId: `b${i}`,
        note: 'n',
        writs: [worker],
      });
      await branch.propose(add(i % 10));
    }
    expect(hashes.size).toBe(1);
    expect(source.state()).toMatchObject({ n: 0 });
    expect((await runtimeOver(store, [desk]).open('b7')).state()).toMatchObject({ n: 7 });
  });
});

describe('opening', () => {
  test('restores state, approvals, frozen world and head', async () => {
    const { store, trajectory } = await begun();
    await trajectory.propose(add(3));
    const asked = await trajectory.propose(intent('ask', { amount: 1 }, worker));
    const again = await runtimeOver(store, [desk]).open('t');
    expect([again.head, again.length, canonicalize(again.state())]).toEqual([
      trajectory.head,
      3,
      canonicalize(trajectory.state()),
    ]);
    expect(again.approvals.pending()).toEqual(trajectory.approvals.pending());
    expect(await again.propose(add())).toMatchObject({
      ruling: 'frozen',
      by: asked.ruling === 'escalated' ? asked.pending : '',
    });
  });

  test('again returns the same trajectory; without entries or domain it fails', async () => {
    const { store, assize } = await begun();
    expect(await assize.open('t')).toBe(await assize.open('t'));
    expect(await refusal(store, () => assize.open('none'))).toBe('not_found');
    expect(await refusal(store, () => runtimeOver(store, []).open('t'))).toBe('domain_mismatch');
    expect(await refusal(store, () => runtimeOver(store, [deskOf('world', '2')]).open('t'))).toBe(
      'domain_mismatch',
    );
    expect(await refusal(store, () => runtimeOver(store, [deskOf('footprint')]).open('t'))).toBe(
      'domain_mismatch',
    );
    const others = [deskOf('world', '2'), deskOf('footprint'), deskOf('footprint', '2')];
    await expect(runtimeOver(store, others).open('t')).rejects.toThrow(
      /^The trajectory t has the domain desk@1 \([0-9a-f]{12}\), and the given domains are desk@2 \(declared in 2 ways: [0-9a-f]{12} and [0-9a-f]{12}\), desk@1 \([0-9a-f]{12}\)\. Give the changed domain a new version/,
    );
    await expect(runtimeOver(store, []).open('t')).rejects.toThrow(
      / \([0-9a-f]{12}\), and no domain is given\. Pass that domain /,
    );
    const [one, two, three, four] = ['a', 'b', 'c', 'd'].map((name) =>
      defineDomain({ ...desk.declared, name }),
    );
    await expect(runtimeOver(store, [one!, two!]).open('t')).rejects.toThrow(
      /, and the given domains are a@1 \([0-9a-f]{12}\), b@1 /,
    );
    await expect(runtimeOver(store, [one!, two!, three!, four!]).open('t')).rejects.toThrow(
      'none of the 4 given domains has that name. Pass that domain (on the command line: --domain FILE).',
    );
    // A refusal is not remembered.
    await assize.create(desk, { trajectoryId: 'none' });
    expect((await assize.open('none')).length).toBe(1);
  });

  test('an invalid ledger takes no entries on opening, branching or proposing', async () => {
    const { store, trajectory } = await begun();
    for (let i = 0; i < 4; i++) await trajectory.propose(add());
    const rows = await allEntries(store, 't');
    const honest = store.below.entries.bind(store.below);
    for (const { seq } of rows) {
      store.entries = async (name, options) =>
        (await honest(name, options)).map((row) =>
          row.seq === seq ? { ...row, payload: row.payload.replace(':', ' :') } : row,
        );
      const fresh = runtimeOver(store, [desk]);
      await expect(fresh.open('t')).rejects.toMatchObject({
        code: 'invalid_ledger',
        evidence: { trajectory_id: 't', seq, code: 'tampered' },
      });
      await expect(fresh.branch('t', rows[4]?.id as string, { note: 'n' })).rejects.toMatchObject({
        code: 'invalid_ledger',
      });
      store.entries = honest;
      expect((await store.trajectories()).map(({ entries }) => entries)).toEqual([5]);
      // Nor was it remembered as damaged.
      expect((await fresh.open('t')).length).toBe(5);
    }
  });

  test('a released trajectory is opened again, and both go on as two writers', async () => {
    const { store, assize, trajectory } = await begun();
    assize.release('t');
    const again = await assize.open('t');
    expect(again).not.toBe(trajectory);
    await again.propose(add());
    await trajectory.propose(add());
    await again.propose(add());
    expect(await soundState(store, 't')).toContain('"n":3');
  });
});

test('the anchors are keys', () => {
  for (const anchor of ['', 'x', `01${'0'.repeat(62)}`, operator.publicKey.toUpperCase()]) {
    expect(() => runtimeOver(new FaultyStore(), [desk], { anchors: [anchor] })).toThrow();
  }
});
