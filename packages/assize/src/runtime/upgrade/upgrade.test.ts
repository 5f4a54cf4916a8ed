import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Domain, defineDomain, escalate, invariant, pass, upgradeScope } from '#kernel';
import { type Hash, type Payload, readRow } from '#ledger';
import type { Assize, ProposalInput, Ruling, Trajectory, UpgradeOptions } from '#runtime';
import { verifyStore } from '#runtime';
import { FaultyStore } from '../../../../../tests/support/ledger/desk.ts';
import { HandClock, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { asked, atMost, counter } from '../../../../../tests/support/ledger/versions.ts';

const writ = writFor('agent');
const v1 = counter({ version: '1' });
const v2 = counter({ version: '2', state: { note: z.string() } });
const addNote = (state: any): void => {
  state.note = 'from 1';
};

let store: MemoryStore;
let assize: Assize;
let books: Trajectory;
const does = (action: string, args: unknown, more: Partial<ProposalInput> = {}): Promise<Ruling> =>
  books.propose({ action, role: 'clerk', args, writ, ...more });
const upgrade = (next: Domain, more: Partial<UpgradeOptions> = {}) =>
  books.upgrade(next, { migrate: addNote, writ, reason: 'a new version', ...more });
const lastPayload = async (): Promise<Payload> =>
  readRow((await store.entries('books')).at(-1)!).payload;

/** Everything that a reader can check. */
async function sound(domains: readonly Domain[] = [v1, v2]): Promise<void> {
  for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
  expect(await deepReplay(store, 'books', { domains })).toMatchObject({
    same: true,
    differences: [],
  });
}

beforeEach(async () => {
  store = new MemoryStore();
  assize = runtimeOver(store, [v1, v2]);
  books = await assize.create(v1, { trajectoryId: 'books', writs: [writ] });
  await does('set', { n: 7 }, { idempotencyKey: 'seven' });
});

test('a proposal that stays pending takes the freeze of the new version', async () => {
  const beds = (version: string, freeze: 'footprint' | 'reserve') =>
    defineDomain({
      name: 'beds',
      version,
      freeze,
      state: z.object({
        beds: z.record(z.string(), z.object({ days: z.number(), by: z.string().optional() })),
      }),
      initial: { beds: {} },
      processes: { booking: { writes: ['/beds/*'] } },
      roles: { clerk: { processes: ['booking'] } },
      actions: {
        book: {
          process: 'booking',
          args: z.object({ bed: z.string(), days: z.number() }),
          apply: (state, { bed, days }) => {
            state.beds[bed] = { days };
          },
        },
      },
      counselors: { ward: () => true },
      invariants: ({ each }) => [
        each(
          'LONG',
          '/beds/*',
          {
            channel: 'ward',
            onApprove: ({ beds }, { counselor, keys: [bed] }) => {
              beds[bed!]!.by = counselor;
            },
          },
          ({ days, by }) => (days < 9 || by ? pass : escalate('a long stay')),
        ),
      ],
    }) as unknown as Domain;
  const [footprint, reserve] = [beds('1', 'footprint'), beds('2', 'reserve')];
  books = await runtimeOver(store, [footprint, reserve]).create(footprint, {
    trajectoryId: 'ward',
    writs: [writ],
  });
  const book = (bed: string, days: number) => does('book', { bed, days });
  const long = await book('b1', 30);
  expect(long.ruling).toBe('escalated');
  expect((await book('b2', 1)).ruling).toBe('frozen');
  expect(await books.upgrade(reserve, { writ, reason: 'less frozen' })).toMatchObject({
    carried: [(long as any).entry.id],
  });
  for (const opened of [books, await runtimeOver(store, [footprint, reserve]).open('ward')]) {
    books = opened;
    expect((await book(`other ${String(opened === books)}`, 1)).ruling).toBe('committed');
    expect((await book('b1', 1)).ruling).toBe('frozen');
  }
  for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
  const domains = [footprint, reserve];
  expect(await deepReplay(store, 'ward', { domains })).toMatchObject({
    same: true,
    differences: [],
  });
});

describe('an upgrade', () => {
  test('is one commit entry with the changes of the migration', async () => {
    const { ruling, patches, vector, refused } = await upgrade(v2);
    expect(ruling).toMatchObject({ ruling: 'committed' });
    expect(refused).toBeUndefined();
    expect(patches).toEqual([{ op: 'add', path: '/note', value: 'from 1' }]);
    expect(vector.map(({ result }) => result)).toEqual(['pass', 'pass']);
    expect(await lastPayload()).toMatchObject({
      kind: 'commit',
      seq: 2,
      action: {
        name: 'assize.upgrade',
        args: { from: v1.hash, to: { version: '2', hash: v2.hash } },
      },
      delta: { state: patches, effects: [], beliefs: [] },
      detection_vector: vector,
    });
    expect(books.domain).toBe(v2);
    expect(books.state()).toEqual({ n: 7, asked: 0, by: '', note: 'from 1' });
    await does('set', { n: 8 });
    await sound();
  });

  test('keeps keys, budgets, revocations and the history', async () => {
    const rich = writFor('rich', { budget: { usd: 10 }, nonce: 'rich', trajectory: 'books' });
    const gone = writFor('gone', { nonce: 'gone' });
    await does('spend', { usd: 8 }, { writ: rich });
    await does('set', { n: 6 }, { writ: gone });
    const by = writFor('office', {
      actions: ['assize.revoke'],
      scopes: ['writ:*'],
      nonce: 'office',
    });
    expect((await books.writs.revoke({ writ: gone, reason: 'left', by })).ruling.ruling).toBe(
      'committed',
    );
    await upgrade(v2);
    books = await runtimeOver(store, [v2]).open('books');
    expect(await does('set', { n: 7 }, { idempotencyKey: 'seven' })).toMatchObject({
      entry: { seq: 1 },
    });
    await expect(does('set', { n: 1 }, { idempotencyKey: 'seven' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await does('spend', { usd: 3 }, { writ: rich })).toMatchObject({
      reason: 'budget_exhausted',
    });
    expect(await does('set', { n: 1 }, { writ: gone })).toMatchObject({
      reason: 'invalid_authority',
    });
    await sound();
  });

  test('needs a writ of its own', async () => {
    const clerk = writFor('clerk', { actions: ['set', 'ask'], nonce: 'clerk' });
    const other = writFor('other', {
      actions: ['assize.upgrade'],
      scopes: ['upgrade:counter:3'],
      nonce: 'other',
    });
    for (const given of [clerk, other])
      expect(await upgrade(v2, { writ: given })).toMatchObject({
        refused: { reason: 'invalid_authority' },
      });
    const waits = writFor('waits', { require_approval: ['assize.upgrade'], nonce: 'waits' });
    expect(await upgrade(v2, { writ: waits })).toMatchObject({
      refused: { detail: expect.stringContaining('an upgrade cannot wait for an approval') },
    });
    expect(books.domain).toBe(v1);
    const own = writFor('own', {
      actions: ['assize.upgrade'],
      scopes: [upgradeScope(v2)],
      nonce: 'own',
    });
    expect(await upgrade(v2, { writ: own })).toMatchObject({ ruling: { ruling: 'committed' } });
    await sound();
  });

  test('of reordered rules judges them in the new order', async () => {
    const turned = counter({ version: '2', invariants: [asked, atMost(10)] });
    books = await runtimeOver(store, [v1, turned]).open('books');
    const { vector } = await upgrade(turned, { migrate: () => {} });
    expect(vector.map(({ invariant_id }) => invariant_id)).toEqual(['ASKED', 'AT_MOST']);
    await sound([v1, turned]);
  });

  test.each<[string, Partial<UpgradeOptions>, object]>([
    [
      'whose migration throws',
      {
        migrate: () => {
          throw new Error('no note');
        },
      },
      { reason: 'precondition_failed', detail: 'migrate: no note' },
    ],
    [
      'whose migration returns a promise',
      { migrate: async () => {} },
      { reason: 'precondition_failed' },
    ],
    [
      'without the migration that its schema needs',
      { migrate: () => {} },
      { reason: 'type_mismatch' },
    ],
    [
      'whose migration writes what is not JSON',
      {
        migrate: (s: any) => {
          s.note = () => {};
        },
      },
      { reason: 'precondition_failed' },
    ],
  ])('%s is refused, and the state is as before', async (_what, more, refused) => {
    expect(await upgrade(v2, more)).toMatchObject({ refused, ruling: { ruling: 'rejected' } });
    expect(books.state()).toEqual({ n: 7, asked: 0, by: '' });
    expect((await lastPayload()).kind).toBe('rejection');
    await does('set', { n: 5 });
    await sound();
  });

  test.each<[string, () => Promise<unknown>, string]>([
    ['to another domain', () => upgrade(counter({ version: '2', name: 'other' })), 'bad_argument'],
    [
      'to a version that the runtime does not have',
      () => upgrade(counter({ version: '3' })),
      'bad_argument',
    ],
    ['to the version in force', () => upgrade(v1), 'already_done'],
    ['without a reason', () => upgrade(v2, { reason: ' ' }), 'bad_intent'],
    [
      'by a counselor without a name',
      () => upgrade(v2, { override: { principal: '', method: 'test' } }),
      'bad_intent',
    ],
    ['with an unknown option', () => upgrade(v2, { migration: 1 } as never), 'bad_argument'],
    [
      'of an unknown trajectory',
      () => assize.upgrade('nothing', v2, { writ, reason: 'r' }),
      'not_found',
    ],
  ])('%s is an error', async (_what, act, code) => {
    await expect(act()).rejects.toMatchObject({ code });
    expect(books.length).toBe(2);
  });

  test('of a domain with another name is an error', async () => {
    const other = counter({ version: '2', name: 'other' });
    const both = runtimeOver(store, [v1, other]);
    await expect(both.upgrade('books', other, { writ, reason: 'r' })).rejects.toMatchObject({
      code: 'bad_intent',
    });
  });

  test('works without the version before', async () => {
    const later = runtimeOver(store, [v2]);
    await expect(later.open('books')).rejects.toThrow(
      /or upgrade the trajectory \(on the command line: assize upgrade books --reason TEXT\)/,
    );
    await later.upgrade('books', v2, { migrate: addNote, writ, reason: 'a new version' });
    expect((await later.open('books')).state()).toMatchObject({ note: 'from 1' });
    await sound();
  });

  test('shuts out a program without the new version, by name', async () => {
    const old = await runtimeOver(store, [v1]).open('books');
    await runtimeOver(store, [v2]).upgrade('books', v2, {
      migrate: addNote,
      writ,
      reason: 'a new version',
    });
    const named =
      /^The trajectory books was upgraded to the domain counter@2 \([0-9a-f]{12}\), and the given domains are counter@1/;
    const input = { action: 'set', role: 'clerk', args: { n: 1 }, writ } as const;
    await expect(old.propose(input)).rejects.toThrow(named);
    await expect(runtimeOver(store, [v1]).open('books')).rejects.toThrow(named);
    expect((await store.entries('books')).length).toBe(3);
  });

  test('says what it would do, and records nothing', async () => {
    const before = await store.head('books');
    const would = await upgrade(v2, { dryRun: true });
    expect(would).toMatchObject({
      ruling: undefined,
      refused: undefined,
      patches: [{ path: '/note' }],
    });
    const fails = await upgrade(v2, { dryRun: true, migrate: () => {} });
    expect(fails).toMatchObject({ ruling: undefined, refused: { reason: 'type_mismatch' } });
    expect(await store.head('books')).toEqual(before);
    expect(books.state()).toEqual({ n: 7, asked: 0, by: '' });
    expect(books.domain).toBe(v1);
  });

  test.each([false, true])(
    'is refused in a halt, without an entry (dry run: %s)',
    async (dryRun) => {
      const stop = {
        writ: writFor('security', { actions: ['assize.halt'], scopes: ['halt:**'] }),
        reason: 'stop',
      };
      await books.halt(stop);
      const before = await store.head('books');
      await expect(upgrade(v2, { dryRun })).rejects.toMatchObject({ code: 'halted' });
      expect(await store.head('books')).toEqual(before);
      await books.resume(stop);
      expect(await upgrade(v2)).toMatchObject({
        refused: undefined,
        ruling: { ruling: 'committed' },
      });
      await sound();
    },
  );
});

describe('a rule of the new version that the state breaks', () => {
  const tight = counter({ version: '2', invariants: [atMost(5), asked] });
  const stop = counter({
    version: '2',
    invariants: [invariant('NONE', ['/n'], () => escalate('a doctor decides'))],
  });
  const plain = { migrate: undefined } as unknown as Partial<UpgradeOptions>;
  const options = { writ, reason: 'tighter' };

  beforeEach(async () => {
    books = await runtimeOver(store, [v1, tight, stop]).open('books');
  });

  test.each([
    ['rejects', tight, 'AT_MOST'],
    ['escalates', stop, 'NONE'],
  ])('refuses the upgrade if it %s', async (_what, next, invariantId) => {
    expect(await books.upgrade(next, options)).toMatchObject({
      refused: { reason: 'invariant_rejected', invariantId },
    });
    expect(books.domain).toBe(v1);
    await sound([v1, next]);
  });

  test('is overridden by a counselor of the new version', async () => {
    const override = { principal: 'dr-no', method: 'test', reason: 'until Monday' };
    expect(await books.upgrade(tight, { ...options, override })).toMatchObject({
      ruling: { ruling: 'committed' },
    });
    expect(await lastPayload()).toMatchObject({
      counselor: {
        principal: 'dr-no',
        as: 'md',
        method: 'test',
        override: true,
        reason: 'until Monday',
      },
      detection_vector: [{ invariant_id: 'AT_MOST', result: 'reject' }, { result: 'pass' }],
    });
    books = await runtimeOver(store, [tight]).open('books');
    expect(await does('set', { n: 6 })).toMatchObject({ reason: 'invariant_rejected' });
    expect(await does('set', { n: 5 })).toMatchObject({ ruling: 'committed' });
    await sound([v1, tight]);
  });

  test.each([
    ['of no kind', 'agent-7'],
    ['that requests the upgrade', 'dr-agent'],
  ])('is not overridden by a principal %s', async (_what, principal) => {
    const own = writFor('dr-agent', { nonce: 'dr-agent' });
    const override = { principal, method: 'test' };
    await expect(books.upgrade(tight, { ...options, writ: own, override })).rejects.toMatchObject({
      code: 'unauthorised_counselor',
    });
    expect(books.state()).toMatchObject({ n: 7 });
    expect(books.length).toBe(2);
  });

  test('a rejection is overridden only if the rule is overridable', async () => {
    const final = { ...atMost(5), overridable: false } as never;
    const strictest = counter({ version: '2', invariants: [final, asked] });
    books = await runtimeOver(store, [v1, strictest]).open('books');
    const override = { principal: 'dr-no', method: 'test' };
    expect(await books.upgrade(strictest, { ...options, override })).toMatchObject({
      refused: { reason: 'invariant_rejected', invariantId: 'AT_MOST' },
    });
    expect(books.domain).toBe(v1);
  });

  test('a counselor is not recorded where every rule passes', async () => {
    const override = { principal: 'dr-no', method: 'test' };
    books = await runtimeOver(store, [v1, v2]).open('books');
    await upgrade(v2, { ...plain, migrate: addNote, override });
    expect(await lastPayload()).not.toHaveProperty('counselor');
  });
});

describe('what waits', () => {
  const doubled = counter({
    version: '2',
    ask: (s: any, { amount }: any) => {
      s.asked = 2 * amount;
    },
  });
  const gone = counter({ version: '2', invariants: [atMost(10)] });
  let pending: Hash;

  beforeEach(async () => {
    assize = runtimeOver(store, [v1, v2, doubled, gone]);
    books = await assize.open('books');
    pending = ((await does('ask', { amount: 3 }, { idempotencyKey: 'three' })) as { pending: Hash })
      .pending;
  });

  test('goes on where it is the same under the new version', async () => {
    expect(await upgrade(v2)).toMatchObject({ carried: [pending], closed: [] });
    expect(books.approvals.pending().map(({ id }) => id)).toEqual([pending]);
    expect(await does('set', { n: 1 })).toMatchObject({ ruling: 'frozen' });
    books = await runtimeOver(store, [v2]).open('books');
    expect(
      await books.approvals.approve(pending, { principal: 'dr-no', method: 'test' }),
    ).toMatchObject({
      ruling: 'committed',
    });
    expect(books.state()).toEqual({ n: 7, asked: 3, by: 'dr-no', note: 'from 1' });
    await sound();
  });

  test.each<[string, Domain, UpgradeOptions['migrate'], string]>([
    [
      'the action now makes other changes',
      doubled,
      undefined,
      'the action would now make other changes',
    ],
    [
      'the migration changes what it changes',
      v2,
      (s: any) => {
        addNote(s);
        s.asked = 3;
        s.by = 'x';
      },
      'other changes',
    ],
    ['no rule escalates it any more', gone, undefined, 'not escalated'],
  ])('is closed where %s', async (_what, next, migrate, why) => {
    const waiting = books.approvals.awaitDecision(pending);
    const { carried, closed } = await upgrade(next, { migrate: migrate as never });
    expect({ carried, closed }).toEqual({
      carried: [],
      closed: [{ id: pending, detail: expect.stringContaining(why) }],
    });
    expect(await lastPayload()).toMatchObject({
      kind: 'rejection',
      reason: 'upgraded',
      resolves: pending,
    });
    expect(await waiting).toMatchObject({ ruling: 'rejected', reason: 'upgraded' });
    expect(books.approvals.pending()).toEqual([]);
    expect(await does('ask', { amount: 3 }, { idempotencyKey: 'three' })).toMatchObject({
      reason: 'upgraded',
    });
    await expect(
      books.approvals.approve(pending, { principal: 'dr-no', method: 'test' }),
    ).rejects.toThrow(/upgrade/);
    expect(await does('set', { n: 1 })).toMatchObject({ ruling: 'committed' });
    await sound([v1, next]);
  });

  test('is reported by a dry run', async () => {
    expect(await upgrade(doubled, { migrate: () => {}, dryRun: true })).toMatchObject({
      closed: [{ id: pending }],
    });
    expect(books.approvals.pending().map(({ id }) => id)).toEqual([pending]);
    expect(books.domain).toBe(v1);
  });

  test('is expired first', async () => {
    const clock = new HandClock();
    assize = runtimeOver(store, [v1, v2], { approvals: { timeoutMs: 1_000 }, ports: { clock } });
    books = await assize.open('books');
    await books.approvals.reject(pending, { principal: 'dr-no', method: 'test', reason: 'no' });
    await does('ask', { amount: 4 });
    clock.forward(2_000);
    expect(await upgrade(v2)).toMatchObject({ carried: [], closed: [] });
    await sound();
  });
});

describe('at the same time as an upgrade', () => {
  test('another upgrade to the same version has one of them', async () => {
    const two = await Promise.all([
      runtimeOver(store, [v1, v2]).open('books'),
      runtimeOver(store, [v2]),
    ]);
    const options = { migrate: addNote, writ, reason: 'both' };
    const both = await Promise.allSettled([
      two[0].upgrade(v2, options),
      two[1].upgrade('books', v2, options),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const lost = both.find((one) => one.status === 'rejected') as PromiseRejectedResult;
    expect(lost.reason).toMatchObject({
      code: 'already_done',
      message: expect.stringContaining('books has the domain counter@'),
    });
    expect((await store.entries('books')).length).toBe(3);
    await sound();
  });

  test.each([
    ['the same version', v2],
    ['another version', counter({ version: '3', state: { note: z.string() } })],
  ])('a second upgrade of the process to %s is refused by name', async (_name, next) => {
    books = await runtimeOver(store, [v1, v2, next]).open('books');
    const [first, second] = await Promise.allSettled([upgrade(v2), upgrade(next)]);
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({
      status: 'rejected',
      reason: { code: 'already_done', message: expect.stringContaining('has the domain') },
    });
    expect(books.state()).toMatchObject({ note: 'from 1' });
    expect(await does('set', { n: 8 })).toMatchObject({ ruling: 'committed' });
    await sound();
  });

  test('another upgrade to another version migrates nothing twice', async () => {
    const v3 = counter({ version: '3', state: { more: z.number() } });
    const all = [v1, v2, v3];
    const [one, other] = [
      await runtimeOver(store, all).open('books'),
      await runtimeOver(store, all).open('books'),
    ];
    const both = await Promise.allSettled([
      one.upgrade(v2, { migrate: addNote, writ, reason: 'to 2' }),
      other.upgrade(v3, {
        migrate: (s: any) => {
          s.more = 1;
        },
        writ,
        reason: 'to 3',
      }),
    ]);
    const lost = both.find((each) => each.status === 'rejected') as PromiseRejectedResult;
    expect(lost.reason).toMatchObject({
      code: 'already_done',
      message: expect.stringContaining('migrate from that version'),
    });
    await sound(all);
  });

  test('a proposal is judged by the version that it comes under', async () => {
    const tight = counter({ version: '2', invariants: [atMost(7), asked] });
    const all = [v1, tight];
    for (const first of ['upgrade', 'proposal']) {
      store = new MemoryStore();
      books = await runtimeOver(store, all).create(v1, { trajectoryId: 'books', writs: [writ] });
      const other = await runtimeOver(store, all).open('books');
      const change = () => other.upgrade(tight, { writ, reason: 'tighter' });
      const set = () => does('set', { n: 9 });
      const [upgraded, ruling] = await (first === 'upgrade'
        ? Promise.all([change(), set()])
        : Promise.all([set(), change()]).then(([a, b]) => [b, a] as const));
      const committed = [upgraded.ruling?.ruling, ruling.ruling].filter(
        (said) => said === 'committed',
      );
      expect(committed).toHaveLength(1);
      await sound(all);
    }
  });

  test('a proposal of the same process waits for it', async () => {
    const [done, ruling] = await Promise.all([upgrade(v2), does('set', { n: 2 })]);
    expect([done.ruling?.ruling, ruling.ruling]).toEqual(['committed', 'committed']);
    expect(books.state()).toMatchObject({ n: 2, note: 'from 1' });
    await sound();
  });
});

describe('a crash in the middle', () => {
  test.each([
    'thrown, lost',
    'unknown, lost',
    'thrown, written',
    'unknown, written',
    'conflict',
  ] as const)('leaves all of it or nothing: %s', async (fault) => {
    const doubled = counter({
      version: '2',
      ask: (s: any, { amount }: any) => {
        s.asked = 2 * amount;
      },
    });
    await does('ask', { amount: 3 });
    const faulty = new FaultyStore(store);
    books = await runtimeOver(faulty, [v1, doubled]).open('books');
    faulty.plan = new Map([[faulty.commits + 1, fault]]);
    await upgrade(doubled, { migrate: () => {} }).catch(() => undefined);
    const kinds = (await store.entries('books')).map(({ kind }) => kind);
    const before = ['root', 'commit', 'pending_approval'];
    const isThere = fault.endsWith('written') || fault === 'conflict';
    expect(kinds).toEqual(isThere ? [...before, 'commit', 'rejection'] : before);
    const after = runtimeOver(store, [v1, doubled]);
    if (!isThere) await after.upgrade('books', doubled, { writ, reason: 'again' });
    expect((await after.open('books')).domain).toBe(doubled);
    await sound([v1, doubled]);
  });
});

describe('other trajectories', () => {
  test('a branch begins with the version at its point', async () => {
    const before = books.head;
    await upgrade(v2);
    const old = await assize.branch('books', before, { trajectoryId: 'old', note: 'before' });
    const later = await assize.branch('books', books.head, {
      trajectoryId: 'later',
      note: 'after',
    });
    expect([old.domain, later.domain]).toEqual([v1, v2]);
    await old.upgrade(v2, { migrate: addNote, writ, reason: 'too' });
    for (const id of ['old', 'later'])
      expect(await deepReplay(store, id, { domains: [v1, v2] })).toMatchObject({ same: true });
    for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
  });

  test('an upgrade goes on from an upgrade', async () => {
    const v3 = counter({ version: '3', state: { note: z.string(), more: z.number() } });
    books = await runtimeOver(store, [v1, v2, v3]).open('books');
    await upgrade(v2);
    await upgrade(v3, {
      migrate: (s: any) => {
        s.more = 1;
      },
    });
    await upgrade(v2, {
      migrate: (s: any) => {
        delete s.more;
      },
    });
    expect(books.domain).toBe(v2);
    await sound([v1, v2, v3]);
    expect((await runtimeOver(store, [v2]).open('books')).state()).toEqual(books.state());
  });
});
