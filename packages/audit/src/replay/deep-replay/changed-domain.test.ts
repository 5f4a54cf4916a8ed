import { MemoryStore } from '@assize/testing/memory';
import {
  type Domain,
  type DomainSpec,
  defineDomain,
  escalate,
  pass,
  reject,
} from 'assize/internal/kernel';
import type { Ruling } from 'assize/internal/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  HandClock,
  intent,
  runtimeOver,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { type DeepReplayOptions, type DeepReplayReport, deepReplay } from './index.ts';
import type { DeepReplaySource } from './options.ts';

const worker = writFor('agent');
const DOCTOR = { principal: 'dr-who', method: 'test' };

const state = z.object({
  sums: z.record(z.string(), z.number()),
  noted: z.array(z.string()),
  asked: z.number(),
  approved: z.number(),
  by: z.string(),
});
type State = z.infer<typeof state>;
type Actions = { add: { to: string; n: number }; note: { text: string }; ask: { n: number } };
type Spec = DomainSpec<typeof state, Actions>;

/** A small book: sums up to ten, notes, and a change that a doctor must approve. */
const book = {
  name: 'book',
  version: '1',
  state,
  initial: { sums: {}, noted: [], asked: 0, approved: 0, by: '' },
  processes: {
    adding: { writes: ['/sums'] },
    noting: { writes: ['/noted/-'] },
    asking: { writes: ['/asked'] },
  },
  roles: { worker: { processes: ['adding', 'noting', 'asking'] } },
  actions: {
    add: {
      process: 'adding',
      args: z.object({ to: z.string(), n: z.number() }),
      cost: ({ n }) => ({ usd: Math.abs(n) }),
      apply: (state, { to, n }) => {
        state.sums[to] = (state.sums[to] ?? 0) + n;
      },
    },
    note: {
      process: 'noting',
      args: z.object({ text: z.string() }),
      apply: (state, { text }) => {
        state.noted.push(text);
      },
    },
    ask: {
      process: 'asking',
      args: z.object({ n: z.number() }),
      apply: (state, { n }) => {
        state.asked += n;
      },
    },
  },
  invariants: ({ each, invariant }) => [
    each('TEN', '/sums/*', {}, (sum) => (sum <= 10 ? pass : reject(`${sum} is more than ten`))),
    invariant(
      'APPROVED',
      ['/asked', '/approved', '/by'],
      ({ asked, approved }) => (asked <= approved ? pass : escalate(`${asked} is asked for`)),
      {
        channel: 'md',
        onApprove: (state, { counselor }) => {
          state.approved = state.asked;
          state.by = counselor;
        },
      },
    ),
  ],
  counselors: { md: (name: string) => name.startsWith('dr-') },
  freeze: 'footprint',
} satisfies Spec as Spec;

/** The book with a change. */
function changed(change: Partial<Spec>): Domain {
  return defineDomain<any, any>({ ...book, ...change });
}

function action<Name extends keyof Actions>(
  name: Name,
  change: Partial<Spec['actions'][Name]>,
): Partial<Spec> {
  return { actions: { ...book.actions, [name]: { ...book.actions[name], ...change } } };
}

const BOOK = changed({});

/**
 * 1 add 4; 2 add 6 to another sum; 3 refused; 4 note; 5 ask, 6 approved; 7 add 5; 8 ask, 9 the
 * doctor's own; 10 ask, 11 rejected.
 */
async function story(domain: Domain = BOOK) {
  const store = new MemoryStore();
  const clock = new HandClock();
  const rich = writFor('rich', { trajectory: 't', budget: { usd: 1_000 } });
  const t = await runtimeOver(store, [domain], { ports: { clock } }).create(domain, {
    trajectoryId: 't',
    writs: [worker, rich],
  });
  const propose = (name: string, args: object): Promise<Ruling> => {
    clock.forward(1_000);
    return t.propose(intent(name, args, rich));
  };
  const pending = async (n: number): Promise<string> => {
    const ruling = await propose('ask', { n });
    if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
    return ruling.pending;
  };
  await propose('add', { to: 'a', n: 4 });
  await propose('add', { to: 'b', n: 6 });
  await propose('add', { to: 'b', n: 5 });
  await propose('note', { text: 'one' });
  await t.approvals.approve(await pending(1), DOCTOR);
  await propose('add', { to: 'a', n: 5 });
  const replacement = [
    { op: 'replace', path: '/approved', value: 9 },
    { op: 'replace', path: '/by', value: 'someone' },
  ] as const;
  await t.approvals.approve(await pending(2), { ...DOCTOR, replacement });
  await t.approvals.reject(await pending(20), { ...DOCTOR, reason: 'no' });
  return store;
}

/** The differences, entry by entry. */
async function found(domain: Domain, options: Partial<DeepReplayOptions> = {}) {
  const store = await story();
  const report = await deepReplay(store, 't', { domains: [domain], ...options });
  expect(report).toMatchObject({ trajectory_id: 't', entries: 12 });
  expect(report.same).toBe(report.difference_count === 0);
  expect(report.preserved).toBe(report.broken_count === 0);
  return report;
}

function placesOf({ differences }: DeepReplayReport): string[] {
  return differences.map(({ seq, what }) => `${seq} ${what}`);
}

test('the domain itself reproduces the ledger, with a counselor’s replacement', async () => {
  expect(await found(BOOK)).toMatchObject({
    same: true,
    preserved: true,
    differences: [],
    reworded: 0,
    compared: 11,
    taken_as_recorded: { counselors_own_state: 1, counselor_rejected: 1 },
  });
});

describe('a changed action', () => {
  test('is named where it does something else, and nowhere else', async () => {
    const twice = action('add', {
      apply: (state: State, { to, n }) => {
        state.sums[to] = (state.sums[to] ?? 0) + n + (to === 'a' ? 1 : 0);
      },
    });
    const report = await found(changed(twice));
    expect(report.differences).toMatchObject([
      {
        trajectory_id: 't',
        seq: 1,
        entry_id: expect.stringMatching(/^[0-9a-f]{64}$/),
        what: 'delta',
        recorded: [{ op: 'add', path: '/sums/a', value: 4 }],
        now: [{ op: 'add', path: '/sums/a', value: 5 }],
      },
      // Computed from the recorded sum, not from the replayed one.
      {
        seq: 7,
        what: 'delta',
        recorded: [{ value: 9 }],
        now: [{ op: 'replace', path: '/sums/a', value: 10 }],
      },
    ]);
    expect(report).toMatchObject({ difference_count: 2, preserved: true, broken: [] });
  });

  test('that costs something else, throws, or leaves its footprint', async () => {
    const dear = await found(changed(action('add', { cost: ({ n }) => ({ usd: n + 1 }) })));
    expect(placesOf(dear)).toEqual(['1 cost', '2 cost', '7 cost']);
    expect(dear.differences[0]).toMatchObject({ recorded: { usd: 4 }, now: { usd: 5 } });
    const broken = action('add', {
      apply: (_, { n }) => {
        throw new Error(`no ${n}`);
      },
    });
    const thrown = await found(changed(broken));
    expect(placesOf(thrown)).toEqual(['1 ruling', '2 ruling', '3 ruling', '7 ruling']);
    expect(thrown.differences[0]).toMatchObject({
      recorded: { ruling: 'committed' },
      now: { ruling: 'rejected', reason: 'precondition_failed', detail: 'no 4' },
    });
    expect(thrown.differences[2]).toMatchObject({
      recorded: { ruling: 'rejected', reason: 'invariant_rejected', invariant_id: 'TEN' },
    });
    const elsewhere = action('note', {
      apply: (state: State, { text }) => {
        state.by = text;
      },
    });
    expect((await found(changed(elsewhere))).differences).toMatchObject([
      {
        seq: 4,
        what: 'ruling',
        now: { reason: 'invalid_authority', detail: 'note: /by is outside the footprint' },
      },
    ]);
  });

  test('that was escalated differs at pending: delta, mark, digest; not after it', async () => {
    const more = action('ask', {
      apply: (state: State, { n }) => {
        state.asked += n + 1;
      },
    });
    const report = await found(changed(more));
    expect(placesOf(report)).toEqual([
      ...[
        '5 delta',
        '5 approval',
        '5 digest',
        '8 delta',
        '8 approval',
        '8 digest',
        '10 delta',
        '10 approval',
        '10 digest',
      ],
    ]);
    expect(report.taken_as_recorded).toEqual({ counselor_rejected: 1 });
  });
});

describe('a changed invariant', () => {
  const stricter = (most: number): Partial<Spec> => ({
    invariants: (rules) => [
      rules.each('TEN', '/sums/*', {}, (sum) =>
        sum <= most ? pass : reject(`${sum} is more than ${most}`),
      ),
      ...(book.invariants as Extract<Spec['invariants'], (rules: any) => unknown>)(rules).slice(1),
    ],
  });

  test('that is stricter is named with its violation, and stops no later entry', async () => {
    const report = await found(changed(stricter(5)));
    expect(report.differences).toMatchObject([
      {
        seq: 2,
        what: 'ruling',
        recorded: { ruling: 'committed' },
        now: {
          ruling: 'rejected',
          reason: 'invariant_rejected',
          invariant_id: 'TEN',
          detail: '/sums/b: 6 is more than 5',
        },
      },
      // At the counselor’s commit every rule is checked.
      { seq: 6, what: 'vector', recorded: [], now: [{ invariant_id: 'TEN', result: 'reject' }] },
      { seq: 7, what: 'ruling', now: { invariant_id: 'TEN', detail: '/sums/a: 9 is more than 5' } },
      { seq: 9, what: 'vector' },
    ]);
    expect(placesOf(report)).toEqual(['2 ruling', '6 vector', '7 ruling', '9 vector']);
    expect(report).toMatchObject({
      preserved: false,
      broken_count: 2,
      broken: [
        { seq: 2, invariant_id: 'TEN', detail: '/sums/b: 6 is more than 5' },
        { seq: 7, invariant_id: 'TEN', detail: '/sums/a: 9 is more than 5' },
      ],
      reworded: 1,
    });
  });

  test('that is looser is named where it no longer refuses or asks', async () => {
    expect(placesOf(await found(changed(stricter(100))))).toEqual(['3 ruling']);
    const never = changed({
      invariants: (rules) => [
        rules.invariant('APPROVED', ['/asked', '/approved', '/by'], () => pass, { channel: 'md' }),
      ],
    });
    const report = await found(never, { changedDomains: true });
    expect(report.differences[0]).toMatchObject({
      seq: 3,
      recorded: { invariant_id: 'TEN' },
      now: { ruling: 'committed' },
    });
    expect(report.differences[1]).toMatchObject({
      seq: 5,
      recorded: { ruling: 'escalated' },
      now: { ruling: 'committed' },
    });
  });

  test('that only says it in other words is not different, and is counted', async () => {
    const worded = changed({
      invariants: (rules) => [
        rules.each('TEN', '/sums/*', {}, (sum) => (sum <= 10 ? pass : reject('too much'))),
        rules.invariant(
          'APPROVED',
          ['/asked', '/approved', '/by'],
          ({ asked, approved }) => (asked <= approved ? pass : escalate('really?')),
          {
            channel: 'md',
            onApprove: (state, { counselor }) => {
              state.approved = state.asked;
              state.by = counselor;
            },
          },
        ),
      ],
    });
    expect(await found(worded)).toMatchObject({ same: true, reworded: 4, differences: [] });
  });

  test('with another approval mark, another channel, or without its counselors', async () => {
    const rule = (options: object): Partial<Spec> => ({
      invariants: (rules) => [
        rules.each('TEN', '/sums/*', {}, (sum) =>
          sum <= 10 ? pass : reject(`${sum} is more than ten`),
        ),
        rules.invariant(
          'APPROVED',
          ['/asked', '/approved', '/by'],
          ({ asked, approved }) => (asked <= approved ? pass : escalate(`${asked} is asked for`)),
          options,
        ),
      ],
    });
    const onApprove = (state: State): void => {
      state.approved = state.asked;
      state.by = 'somebody';
    };
    const marked = await found(changed(rule({ channel: 'md', onApprove })));
    expect(placesOf(marked)).toEqual([
      ...['5 approval', '5 digest', '8 approval', '8 digest', '10 approval', '10 digest'],
    ]);
    const lost = await found(changed({ counselors: { md: () => false } }));
    expect(placesOf(lost)).toEqual(['6 counselor', '9 counselor', '11 counselor']);
    expect(lost.differences[0]).toMatchObject({
      recorded: { as: 'md' },
      now: expect.stringMatching(/dr-who cannot resolve this proposal/),
    });
    const both = changed({
      ...rule({ channel: 'nurse', onApprove: () => {} }),
      counselors: { md: () => true, nurse: () => true },
    });
    expect(placesOf(await found(both, { changedDomains: true }))).toEqual(
      expect.arrayContaining(['5 channel', '5 approval', '5 digest']),
    );
  });
});

describe('a changed schema', () => {
  test('of arguments is named where they do not fit', async () => {
    const small = changed(
      action('add', { args: z.object({ to: z.string(), n: z.number().max(5) }) }),
    );
    const report = await found(small, { changedDomains: true });
    expect(placesOf(report)).toEqual(['2 ruling']);
    expect(report.differences[0]?.now).toMatchObject({
      reason: 'type_mismatch',
      detail: expect.stringMatching(/\/n: .*<=5/),
    });
  });

  test('of the state is named at the root, and where a change does not fit', async () => {
    const more = changed({
      state: state.extend({ more: z.number() }) as never,
      initial: undefined as never,
    });
    const report = await found(more, { changedDomains: true });
    expect(placesOf(report)).toEqual(['0 state']);
    expect(report.differences[0]?.now).toMatch(/\/more/);
    // A branch replayed alone starts with an unchecked state.
    const store = await story();
    const [, first] = await store.entries('t');
    await runtimeOver(store, [BOOK]).branch('t', first?.id as string, {
      trajectoryId: 'b',
      note: 'n',
    });
    for (const [sources, place] of [
      [false, 'b'],
      [true, 't'],
    ] as const) {
      const { differences } = await deepReplay(store, 'b', {
        domains: [more],
        changedDomains: true,
        sources,
      });
      expect(differences).toMatchObject([{ trajectory_id: place, seq: 0, what: 'state' }]);
    }
    const sums = z.record(z.string(), z.number().max(5));
    const less = await found(changed({ state: state.extend({ sums }) }), { changedDomains: true });
    expect(placesOf(less)).toEqual(['2 ruling', '3 ruling', '7 ruling']);
    expect(less.differences[0]?.now).toMatchObject({ reason: 'type_mismatch' });
  });

  test('has another hash, and runs only on request, under its own name', async () => {
    const other = changed({ version: '2' });
    const store = await story();
    await expect(deepReplay(store, 't', { domains: [other] })).rejects.toMatchObject({
      code: 'domain_mismatch',
      message: expect.stringMatching(/has the domain book@1 .*The given domain is book@2 /),
    });
    await expect(
      deepReplay(store, 't', { domains: [], changedDomains: true }),
    ).rejects.toMatchObject({
      code: 'domain_mismatch',
      message: expect.stringMatching(/--domain FILE/),
    });
    const report = await deepReplay(store, 't', { domains: [BOOK, other], changedDomains: true });
    expect(report).toMatchObject({
      same: true,
      domain: { name: 'book', version: '2', hash: other.hash },
      recorded_domain: { name: 'book', version: '1', hash: BOOK.hash },
    });
    // Both are available and no change is requested: the recorded one runs.
    expect(await deepReplay(store, 't', { domains: [BOOK, other] })).toMatchObject({
      domain: { version: '1' },
    });
  });
});

describe('a domain that is not pure', () => {
  test.each([
    [
      'draws a number',
      action('add', {
        apply: (state: State, { to }) => {
          state.sums[to] = Math.random();
        },
      }),
      '1 delta',
    ],
    [
      'reads the clock',
      action('note', {
        apply: (state: State) => {
          state.noted.push(String(process.hrtime.bigint()));
        },
      }),
      '4 delta',
    ],
    ['costs as it likes', action('add', { cost: () => ({ usd: ++called % 7 }) }), '1 cost'],
    [
      'remembers what it did',
      action('add', {
        apply: (state: State, { to }) => {
          state.sums[to] = ++called / 1_000;
        },
      }),
      '1 delta',
    ],
  ])('and %s is found out', async (_, change, first) => {
    const domain = changed(change);
    const store = await story(domain);
    const report = await deepReplay(store, 't', { domains: [domain] });
    expect(report.same).toBe(false);
    expect(placesOf(report)[0]).toBe(first);
  });

  test('with an unstable rule is detected, even if its read set is unchanged', async () => {
    let strict = false;
    const moody = changed({
      invariants: (rules) => [
        rules.invariant('MOOD', ['/by'], () => (strict ? reject('not today') : pass)),
        ...(book.invariants as Extract<Spec['invariants'], (rules: any) => unknown>)(rules),
      ],
    });
    const store = new MemoryStore();
    const t = await runtimeOver(store, [moody]).create(moody, {
      trajectoryId: 't',
      writs: [worker],
    });
    await t.propose(intent('note', { text: 'x'.repeat(20_000) }, worker));
    const replayed = (source: DeepReplaySource) => deepReplay(source, 't', { domains: [moody] });
    expect(await replayed(store)).toMatchObject({ same: true, preserved: true });
    // It fails when the note is read; no write touches the paths that it reads.
    const turning = {
      entries: store.entries.bind(store),
      resolve: store.resolve.bind(store),
      head: store.head.bind(store),
      erasedBy: store.erasedBy.bind(store),
      blob: (hash: string) => {
        strict = true;
        return store.blob(hash);
      },
    };
    expect(await replayed(turning)).toMatchObject({
      same: true,
      preserved: false,
      broken: [{ seq: 1, invariant_id: 'MOOD', detail: 'not today' }],
    });
    expect(await replayed(store)).toMatchObject({
      preserved: false,
      broken: [{ seq: 0, invariant_id: 'MOOD', detail: 'not today' }],
      differences: [{ seq: 0, what: 'vector' }],
    });
  });
});

let called = 0;

test('a difference shows the recorded value, despite later changes of it', async () => {
  const boxes = (first: string) =>
    defineDomain({
      name: 'boxes',
      version: '1',
      state: z.object({ boxes: z.record(z.string(), z.array(z.string())) }),
      initial: { boxes: {} },
      processes: { filing: { writes: ['/boxes'] } },
      roles: { worker: { processes: ['filing'] } },
      actions: {
        put: {
          process: 'filing',
          args: z.object({ paper: z.string() }),
          apply: (state, { paper }) => {
            if (state.boxes['a'] === undefined) state.boxes['a'] = [first];
            state.boxes['a'].push(paper);
          },
        },
      },
      invariants: [],
    });
  const store = new MemoryStore();
  const t = await runtimeOver(store, [boxes('one')]).create(boxes('one'), {
    trajectoryId: 't',
    writs: [worker],
  });
  for (const paper of ['two', 'three']) await t.propose(intent('put', { paper }, worker));
  expect(await deepReplay(store, 't', { domains: [boxes('uno')] })).toMatchObject({
    differences: [
      {
        seq: 1,
        recorded: [{ op: 'add', path: '/boxes/a', value: ['one', 'two'] }],
        now: [{ op: 'add', path: '/boxes/a', value: ['uno', 'two'] }],
      },
    ],
  });
});

test('a counselor’s commit that no longer fits is applied, and work continues', async () => {
  const boxes = (longest: number) =>
    defineDomain({
      name: 'boxes',
      version: '1',
      state: z.object({
        boxes: z.record(z.string(), z.array(z.string().max(longest))),
        ok: z.boolean(),
      }),
      initial: { boxes: {}, ok: false },
      processes: { filing: { writes: ['/boxes'] } },
      roles: { worker: { processes: ['filing'] } },
      actions: {
        put: {
          process: 'filing',
          args: z.object({ paper: z.string() }),
          apply: (state, { paper }) => {
            if (state.boxes['a'] === undefined) state.boxes['a'] = [];
            state.boxes['a'].push(paper);
          },
        },
      },
      invariants: ({ invariant }) => [
        invariant(
          'OPENED',
          ['/boxes', '/ok'],
          ({ boxes, ok }) => (ok || boxes['a'] === undefined ? pass : escalate('a box')),
          {
            onApprove: (state) => {
              state.ok = true;
            },
          },
        ),
      ],
      counselors: { md: (name) => name.startsWith('dr-') },
    });
  const store = new MemoryStore();
  const t = await runtimeOver(store, [boxes(10)]).create(boxes(10), {
    trajectoryId: 't',
    writs: [worker],
  });
  const asked = await t.propose(intent('put', { paper: 'too long' }, worker));
  if (asked.ruling !== 'escalated') throw new Error(JSON.stringify(asked));
  await t.approvals.approve(asked.pending, DOCTOR);
  await t.propose(intent('put', { paper: 'short' }, worker));
  const report = await deepReplay(store, 't', { domains: [boxes(5)], changedDomains: true });
  expect(placesOf(report)).toEqual(['1 ruling', '2 ruling']);
  expect(report.differences[1]?.now).toMatch(/does not fit the domain/);
});

test('differences are listed up to a limit, and all are counted', async () => {
  const broken = changed(
    action('add', {
      apply: () => {
        throw new Error('no');
      },
    }),
  );
  const report = await found(broken, { limit: 1 });
  expect(report).toMatchObject({ difference_count: 4, differences: [{ seq: 1 }] });
  expect(report.differences).toHaveLength(1);
  expect(await found(broken, { limit: 0 })).toMatchObject({
    same: false,
    difference_count: 4,
    differences: [],
  });
});
