import { type BudgetState, budget } from '@assize/cli/internal/domains/budget';
import { MemoryStore } from '@assize/testing/memory';
import { contentHash } from 'assize/internal/canon';
import { defineDomain, escalate, pass } from 'assize/internal/kernel';
import { type EntryRow, entryRow, type LedgerStore } from 'assize/internal/ledger';
import { createOracle, fixedClock } from 'assize/internal/oracle';
import type { Ruling, Trajectory } from 'assize/internal/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { deskOf, payloads } from '../../../../../tests/support/ledger/desk.ts';
import {
  branchMembers,
  ChainWriter,
  commitMembers,
  rejectionMembers,
  rootMembers,
  second,
} from '../../../../../tests/support/ledger/rows.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  START,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { deepReplay, deepReplayStore } from './index.ts';

const worker = writFor('agent');
const desk = deskOf('footprint');
const DOCTOR = { principal: 'dr-who', method: 'test' };
const ALIKE = { same: true, preserved: true, differences: [], broken: [], reworded: 0 };

async function begun(domain = desk, options: Parameters<typeof runtimeOver>[2] = {}) {
  const store = new MemoryStore();
  const clock = new HandClock();
  const assize = runtimeOver(store, [domain], { ...options, ports: { clock, ...options.ports } });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [worker] });
  return { store, clock, assize, trajectory };
}

async function pendingOf(answer: Promise<Ruling>): Promise<string> {
  const ruling = await answer;
  if (ruling.ruling !== 'escalated') throw new Error(`it was ${JSON.stringify(ruling)}`);
  return ruling.pending;
}

const add = (trajectory: Trajectory, by: number): Promise<Ruling> =>
  trajectory.propose(intent('add', { by }, worker));

/** A read-only store. */
function readOnly(store: LedgerStore): LedgerStore {
  const refuse = (): never => {
    throw new Error('a replay wrote');
  };
  const { entries, resolve, blob, erasedBy, head, trajectories } = store;
  return {
    entries: entries.bind(store),
    resolve: resolve.bind(store),
    blob: blob.bind(store),
    erasedBy: erasedBy.bind(store),
    head: head.bind(store),
    trajectories: trajectories.bind(store),
    commit: refuse,
    find: refuse,
    close: refuse,
  };
}

describe('a trajectory', () => {
  test('of the budget is as its domain makes it, and nothing is written', async () => {
    const store = new MemoryStore();
    const assize = runtimeOver(store, [budget]);
    const trajectory = await assize.create(budget, { trajectoryId: 't' });
    const spend = (agent: string, amount: number) =>
      trajectory.propose({
        action: 'spend',
        role: { name: 'spender', params: { agent } },
        args: { amount },
        writ: writFor(`agent:${agent}`),
      });
    await spend('a', 60_000);
    expect(await spend('b', 60_000)).toMatchObject({
      ruling: 'rejected',
      invariantId: 'BUDGET_CAP',
    });
    await spend('b', 40_000);
    expect((trajectory.state() as BudgetState).spent).toEqual({ a: 60_000, b: 40_000 });
    const ref = { name: 'budget', version: '1', hash: budget.hash };
    expect(await deepReplay(readOnly(store), 't', { domains: [desk, budget] })).toEqual({
      ...ALIKE,
      trajectory_id: 't',
      domain: ref,
      recorded_domain: ref,
      entries: 4,
      compared: 4,
      taken_as_recorded: {},
      difference_count: 0,
      broken_count: 0,
    });
  });

  test('of more than one page is replayed to its end, and reports progress', async () => {
    const { store, trajectory } = await begun();
    await Promise.all(
      Array.from({ length: 1_100 }, (_, i) => add(trajectory, i % 2 === 0 ? 1 : -1)),
    );
    const said: [number, number][] = [];
    const report = await deepReplay(store, 't', {
      domains: [desk],
      onProgress: (...how) => said.push(how),
    });
    expect(report).toMatchObject({ ...ALIKE, entries: 1_101 });
    expect(said).toEqual([
      [0, 1_101],
      [500, 1_101],
      [1_000, 1_101],
    ]);
  });

  test('that grows meanwhile is replayed up to its first length', async () => {
    const { store, trajectory } = await begun();
    await add(trajectory, 1);
    const growing = {
      entries: async (...asked: Parameters<LedgerStore['entries']>) => {
        await add(trajectory, 1);
        return store.entries(...asked);
      },
      resolve: store.resolve.bind(store),
      blob: store.blob.bind(store),
      erasedBy: store.erasedBy.bind(store),
      head: store.head.bind(store),
    };
    expect(await deepReplay(growing, 't', { domains: [desk] })).toMatchObject({
      ...ALIKE,
      entries: 2,
    });
    expect(trajectory.length).toBeGreaterThan(2);
  });

  test('with large values everywhere, and values that look like references', async () => {
    const { store, trajectory } = await begun();
    const large = { $blob: 'a'.repeat(64), text: 'x'.repeat(40_000) };
    const rest = { observations: [{ name: 'seen', value: large }] };
    await trajectory.propose(intent('keep', { value: large }, worker, rest));
    await trajectory.propose(intent('keep', { value: large }, worker));
    await trajectory.propose(intent('steal', { value: large }, worker, rest));
    const careful = writFor('careful', { require_approval: ['keep'] });
    const id = await pendingOf(
      trajectory.propose(intent('keep', { value: [large] }, careful, rest)),
    );
    await trajectory.approvals.approve(id, DOCTOR);
    expect(
      (await payloads(store, 't')).filter((payload) => JSON.stringify(payload).includes('"$blob"')),
    ).toHaveLength(5);
    expect(await deepReplay(store, 't', { domains: [desk] })).toMatchObject({
      ...ALIKE,
      compared: 6,
    });
  });

  test('with arguments parsed into a value that does not parse again', async () => {
    const parsing = defineDomain({
      name: 'parsing',
      version: '1',
      state: z.object({ n: z.number(), by: z.string() }),
      initial: { n: 0, by: '' },
      processes: { all: { writes: ['/n', '/by'] } },
      roles: { worker: { processes: ['all'] } },
      actions: {
        add: {
          process: 'all',
          args: z.object({ by: z.string().transform(Number) }) as unknown as z.ZodType<{
            by: number;
          }>,
          apply: (state, { by }) => {
            state.n += by;
          },
        },
      },
      invariants: ({ invariant }) => [
        invariant(
          'SMALL',
          ['/n', '/by'],
          ({ n, by }) => (n < 10 || by !== '' ? pass : escalate('large')),
          {
            onApprove: (state, { counselor }) => {
              state.by = counselor;
            },
          },
        ),
      ],
      counselors: { md: (name) => name.startsWith('dr-') },
    });
    const { store, trajectory } = await begun(parsing as never);
    await trajectory.propose(intent('add', { by: '5' }, worker));
    await trajectory.propose(intent('add', { by: 5 }, worker));
    await trajectory.approvals.approve(
      await pendingOf(trajectory.propose(intent('add', { by: '7' }, worker))),
      DOCTOR,
    );
    expect(await deepReplay(store, 't', { domains: [parsing] })).toMatchObject({
      ...ALIKE,
      compared: 5,
    });
  });

  test('that is not there, or does not verify, is an error', async () => {
    const { store, trajectory } = await begun();
    await add(trajectory, 1);
    const options = { domains: [desk] };
    await expect(deepReplay(store, 'u', options)).rejects.toMatchObject({ code: 'not_found' });
    const changed = readOnly(store);
    const entries = async () =>
      (await store.entries('t')).map((row) => ({
        ...row,
        payload: row.payload.replace('"by":1', '"by":2'),
      }));
    await expect(deepReplay({ ...changed, entries }, 't', options)).rejects.toMatchObject({
      code: 'invalid_ledger',
      evidence: { seq: 1, code: 'tampered' },
    });
    const none = async () =>
      (await store.entries('t', { limit: 1 })).map((row) => ({ ...row, payload: '{"half":' }));
    for (const replay of [
      deepReplay({ ...changed, entries: none }, 't', options),
      deepReplayStore({ ...changed, entries: none }, options),
    ])
      await expect(replay).rejects.toMatchObject({
        code: 'invalid_ledger',
        evidence: { seq: 0, code: 'tampered' },
      });
    const cut = async (id: string, { from = 0 } = {}) =>
      from === 0 ? (await store.entries(id)).slice(0, 1) : [];
    await expect(deepReplay({ ...changed, entries: cut }, 't', options)).rejects.toMatchObject({
      code: 'invalid_ledger',
      evidence: { seq: 1, code: 'not_found' },
    });
  });

  test.each([[null], [0], ['x'], [[]], [{}]])(
    'with the invalid change %j is an error or a difference',
    async (none) => {
      const { store, trajectory } = await begun();
      await add(trajectory, 1);
      await pendingOf(trajectory.propose(intent('ask', { amount: 1 }, worker)));
      const [root, first, waiting] = (await store.entries('t')) as [EntryRow, EntryRow, EntryRow];
      const replayed = async (row: EntryRow, deltaOf: (payload: any) => { state: unknown[] }) => {
        const payload = JSON.parse(row.payload);
        deltaOf(payload).state[0] = none;
        if (row === waiting) payload.digest = contentHash(payload.proposal);
        const forged = new MemoryStore();
        await forged.commit({
          entries: [root, first, waiting].slice(0, row.seq).concat(entryRow(payload, undefined)),
          blobs: [],
        });
        return deepReplay(forged, 't', { domains: [desk] });
      };
      await expect(replayed(first, ({ delta }) => delta)).rejects.toMatchObject({
        code: 'invalid_ledger',
        evidence: { seq: 1, code: 'bad_patch' },
      });
      const { differences } = await replayed(waiting, ({ proposal }) => proposal.delta);
      expect(differences.map(({ seq, what }) => [seq, what])).toEqual([
        [2, 'delta'],
        [2, 'digest'],
      ]);
    },
  );
});

describe('a branch', () => {
  async function family() {
    const { store, assize, trajectory } = await begun();
    await add(trajectory, 1);
    await add(trajectory, 2);
    await add(trajectory, 3);
    const [, , second] = await store.entries('t');
    const child = await assize.branch('t', second?.id as string, {
      trajectoryId: 'child',
      note: 'n',
      writs: [worker],
    });
    await add(child, 4);
    const grandchild = await assize.branch('child', child.head, {
      trajectoryId: 'grandchild',
      note: 'n',
      writs: [worker],
    });
    await add(grandchild, 3);
    expect(await add(grandchild, 1)).toMatchObject({
      ruling: 'rejected',
      invariantId: 'TEN_AT_MOST',
    });
    return { store, assize };
  }

  test('of a branch is replayed with its sources, up to its start, or alone', async () => {
    const { store } = await family();
    // Three of the root's four entries, two of the child's, three of its own.
    expect(await deepReplay(store, 'grandchild', { domains: [desk] })).toMatchObject({
      ...ALIKE,
      entries: 8,
    });
    const alone = await deepReplay(store, 'grandchild', { domains: [desk], sources: false });
    expect(alone).toMatchObject({ ...ALIKE, trajectory_id: 'grandchild', entries: 3, compared: 3 });
  });

  test('in a whole store is replayed once, with its source if not requested', async () => {
    const { store } = await family();
    const said: [number, number][] = [];
    const all = await deepReplayStore(store, {
      domains: [desk],
      onProgress: (...how) => said.push(how),
    });
    expect(all.map(({ trajectory_id, entries, same }) => [trajectory_id, entries, same])).toEqual([
      ['t', 4, true],
      ['child', 2, true],
      ['grandchild', 3, true],
    ]);
    expect(said).toEqual([
      [0, 9],
      [4, 9],
      [6, 9],
    ]);
    const some = await deepReplayStore(store, {
      domains: [desk],
      trajectoryIds: ['grandchild', 't'],
    });
    expect(some.map(({ entries }) => entries)).toEqual([8, 4]);
  });

  test('with a missing or younger source is an error', async () => {
    const { store } = await family();
    const without = { ...readOnly(store), resolve: async () => undefined };
    await expect(deepReplay(without, 'child', { domains: [desk] })).rejects.toMatchObject({
      code: 'invalid_ledger',
      evidence: { trajectory_id: 'child', seq: 0, code: 'source_missing' },
    });
    const [, , , third] = await store.entries('t');
    const other = {
      ...readOnly(store),
      resolve: async () => ({ ...third, trajectory_id: 'child' }) as never,
    };
    await expect(deepReplay(other, 'grandchild', { domains: [desk] })).rejects.toMatchObject({
      evidence: { code: 'column_mismatch' },
    });
  });

  test('of itself, a non-commit, a younger or a misplaced entry is an error', async () => {
    const a = new ChainWriter('a');
    a.add('root', rootMembers({ n: 0 }));
    a.add('rejection', rejectionMembers());
    a.add('commit', commitMembers([]));
    const [, refused, committed] = a.rows as [EntryRow, EntryRow, EntryRow];
    const branchOf = (name: string, source: EntryRow, at: number): EntryRow => {
      const b = new ChainWriter(name);
      return b.add('branch', { ...branchMembers(source), at: second(at) });
    };
    const faultOf = async (
      rows: readonly EntryRow[],
      resolve: (id: string) => EntryRow | undefined,
    ) => {
      const store = new MemoryStore();
      await store.commit({ entries: rows, blobs: [] });
      const reader = { ...readOnly(store), resolve: async (id: string) => resolve(id) };
      const error = await deepReplay(reader, 'b', { domains: [desk] }).catch(
        (caught: unknown) => caught,
      );
      return (error as { evidence?: object }).evidence;
    };
    const known = (id: string): EntryRow | undefined => a.rows.find((row) => row.id === id);
    expect(await faultOf([...a.rows, branchOf('b', refused, 9)], known)).toMatchObject({
      trajectory_id: 'b',
      code: 'rule_broken',
      detail: 'a branch cannot start at a rejection entry',
    });
    expect(await faultOf([...a.rows, branchOf('b', committed, 1)], known)).toMatchObject({
      code: 'rule_broken',
      detail: 'the branch is older than its source',
    });
    const circle = branchOf('b', { ...committed, trajectory_id: 'b' }, 9);
    expect(await faultOf([circle], () => ({ ...committed, trajectory_id: 'b' }))).toMatchObject({
      code: 'source_missing',
      detail: 'b would branch from itself',
    });
  });

  test('begins where an invariant is broken only when that was said', async () => {
    const store = new MemoryStore();
    const assize = runtimeOver(store, [desk]);
    const initial = { ...(desk.initial as object), n: 50 };
    const root = await assize.create(desk, {
      trajectoryId: 't',
      initial,
      writs: [worker],
      override: true,
    });
    expect(await root.propose(intent('keep', { value: 1 }, worker))).toMatchObject({
      invariantId: 'TEN_AT_MOST',
    });
    const [first] = await store.entries('t');
    await assize.branch('t', first?.id as string, {
      trajectoryId: 'b',
      note: 'n',
      writs: [worker],
      override: true,
    });
    await add(await assize.open('b'), -45);
    for (const report of await deepReplayStore(store, { domains: [desk] }))
      expect(report).toMatchObject(ALIKE);
    expect(await deepReplay(store, 'b', { domains: [desk] })).toMatchObject({
      ...ALIKE,
      entries: 3,
    });
  });
});

describe('an observation by oracle key', () => {
  async function observed() {
    const { store, trajectory } = await begun(desk, { oracle: undefined as never });
    const log = new MemoryStore();
    const oracle = createOracle({ store: log, clock: fixedClock(START), mode: 'record' });
    const scope = { kind: 'call', trajectory: 't', branch: null, agent: 'a', ordinal: 0 } as never;
    const { value, oracle_key } = await oracle.consult({
      scope,
      request: { ask: 'weather' },
      call: () => 'sun',
    });
    const seen = { name: 'weather', value, oracle_key };
    const open = await runtimeOver(store, [desk], { oracle: log }).open(trajectory.id);
    await open.propose(intent('keep', { value: null }, worker, { observations: [seen] }));
    await open.propose(intent('steal', {}, worker, { observations: [seen] }));
    const careful = writFor('careful', { require_approval: ['keep'] });
    const id = await pendingOf(
      open.propose(intent('keep', { value: 1 }, careful, { observations: [seen] })),
    );
    await open.approvals.approve(id, DOCTOR);
    await add(open, 1);
    return { store, log, oracle_key };
  }

  test('is read back from the log, and the log is never written', async () => {
    const { store, log } = await observed();
    const asked: string[] = [];
    const oracle = {
      oracleGet: (key: string) => {
        asked.push(key);
        return log.oracleGet(key);
      },
    };
    expect(await deepReplay(store, 't', { domains: [desk], oracle })).toMatchObject({
      ...ALIKE,
      compared: 6,
    });
    expect(asked.length).toBe(4);
  });

  test('missing at an override leaves the violation with the counselor', async () => {
    const { store, log, oracle_key } = await observed();
    const open = await runtimeOver(store, [desk], { oracle: log }).open('t');
    const careful = writFor('careful', { require_approval: ['add'] });
    const seen = { name: 'weather', value: 'sun', oracle_key };
    const id = await pendingOf(
      open.propose(intent('add', { by: 9 }, careful, { observations: [seen] })),
    );
    const replacement = [{ op: 'replace', path: '/n', value: 50 }] as const;
    await open.approvals.approve(id, { ...DOCTOR, override: true, replacement });
    expect(await add(open, 1)).toMatchObject({ ruling: 'rejected', invariantId: 'TEN_AT_MOST' });
    const report = await deepReplay(store, 't', { domains: [desk] });
    expect(report).toMatchObject({ preserved: true, broken: [] });
    expect(report.differences.map(({ seq, what }) => `${seq} ${what}`).slice(4)).toEqual([
      '6 observation',
      '7 observation',
    ]);
  });

  test('missing or answered differently is reported; the rest is replayed', async () => {
    const { store, oracle_key } = await observed();
    const other = { oracleGet: async () => ({ key: oracle_key, answer: '"rain"', at: START }) };
    for (const [oracle, saying] of [
      [undefined, /is missing/],
      [{ oracleGet: async () => undefined }, /is missing/],
      [other, /another answer/],
    ] as const) {
      const report = await deepReplay(store, 't', {
        domains: [desk],
        ...(oracle === undefined ? {} : { oracle }),
      });
      expect(report).toMatchObject({
        same: false,
        preserved: true,
        compared: 2,
        difference_count: 4,
      });
      expect(report.differences.map(({ seq, what }) => [seq, what])).toEqual([
        [1, 'observation'],
        [2, 'observation'],
        [3, 'observation'],
        [4, 'observation'],
      ]);
      expect(report.differences[0]?.recorded).toMatchObject({ name: 'weather', oracle_key });
      expect(report.differences[0]?.now).toMatch(saying);
    }
  });
});
