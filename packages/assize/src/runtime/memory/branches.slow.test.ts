import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportLines } from '@assize/audit/internal/export';
import { afterAll, describe, expect, test } from 'vitest';
import { type Writ, writId } from '#authority';
import { addMicros } from '#canon';
import { type CommitPayload, integrateLog, type RootPayload, readRow } from '#ledger';
import { type FactRow, OPEN_END, OPEN_START } from '#memory';
import { createOracle } from '#oracle';
import { openStore, type Store } from '#stores';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import { keysOf } from '../../../../../tests/support/ledger/rows.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  START,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { AssizeOptions } from '../options.ts';
import type { Ruling } from '../records/ruling.ts';
import { checkMemory, type Judge, type Memory, rebuildMemory } from './index.ts';

// Cases outside the property test: clock differences, delegation, questions and erasures.

const folder = mkdtempSync(join(tmpdir(), 'assize-memory-of-branches-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const writ = writFor('nurse');
const officer = writFor('officer', { actions: ['assize.erase'], scopes: ['erase:memory:ward'] });
const objects = (facts: readonly FactRow[]): string[] => facts.map(({ object }) => object);
let files = 0;

async function begun(kind: string, options: Partial<AssizeOptions> = {}) {
  const store = await openStore(
    kind === 'memory' ? 'memory:' : `sqlite:${join(folder, `${++files}.db`)}`,
  );
  const clock = new HandClock();
  const assize = runtimeOver(store, [clinic], { ...options, ports: { clock, ...options.ports } });
  const trajectory = await assize.create(clinic, { trajectoryId: 't', writs: [writ] });
  const memory = trajectory.memory({ space: 'ward', writ });
  const branch = async (id: string, from: string = 't') => {
    const { head } = await assize.open(from, clinic);
    const begins = await assize.branch(from, head, {
      trajectoryId: id,
      note: 'what if',
      writs: [writ],
    });
    return { trajectory: begins, memory: begins.memory({ space: 'ward', writ }) };
  };
  return { store, clock, assize, trajectory, memory, branch };
}

/** As a store that cannot run several queries in one snapshot. */
function withoutMoments(store: Store): void {
  Object.assign(store, { withReadSnapshot: undefined });
}

async function committed(said: Promise<Ruling>): Promise<{ id: string; payload: CommitPayload }> {
  const ruling = await said;
  if (ruling.ruling !== 'committed') throw new Error(JSON.stringify(ruling));
  return { id: ruling.entry.id, payload: readRow(ruling.entry).payload as CommitPayload };
}

const drug = (object: string) => ({ subject: 'p7', predicate: 'drug', object });
const of = async (memory: Pick<Memory, 'recall'>, query: object = {}): Promise<string[]> =>
  objects((await memory.recall({ subject: 'p7', valid: 'any', ...query })).facts);

/** Each trajectory is valid, and the facts match the ledger, also when rebuilt. */
async function expectSound(store: Store): Promise<void> {
  for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
  expect(await checkMemory(store)).toMatchObject({ valid: true, differences: [] });
  await rebuildMemory(store);
  expect(await checkMemory(store)).toMatchObject({ valid: true, differences: [] });
  expect((await store.selfCheck?.()) ?? []).toEqual([]);
}

async function textOf(store: Store): Promise<string> {
  await integrateLog(store);
  let text = '';
  for await (const line of exportLines(store)) text += line;
  for (const memory of [{ space: 'ward' }, ...(await store.branches())])
    text += JSON.stringify(await store.facts({ ...memory, kind: 'all' }));
  return text;
}

describe.each(['memory', 'sqlite'])('on %s', (kind) => {
  test('changes in a branch are not visible in its source, and vice versa', async () => {
    const { store, clock, assize, memory, branch } = await begun(kind);
    await committed(memory.assert(drug('aspirin')));
    clock.forward(1_000);
    const { memory: tried } = await branch('b');
    expect(await of(tried)).toEqual(['aspirin']);
    await committed(memory.change(drug('ibuprofen')));
    expect(await of(tried)).toEqual(['aspirin']);
    clock.forward(1_000);
    await committed(tried.change({ ...drug('none'), from: START }));
    expect(await of(tried)).toEqual(['none']);
    expect(await of(memory, { valid: clock.now() })).toEqual(['ibuprofen']);
    expect(await of(assize.memory('ward'), { valid: clock.now() })).toEqual(['ibuprofen']);
    expect(await of(assize.memory('ward', 'b'))).toEqual(['none']);
    expect(await store.spaces()).toEqual(['ward']);
    const recalled = await tried.recall({ subject: 'p7' });
    expect(recalled.observation.value).toMatchObject({ query: { space: 'ward', branch: 'b' } });
    expect(recalled.facts[0]).not.toHaveProperty('branch');
    const [was] = (await tried.recall({ subject: 'p7', valid: 'any', system: START })).facts;
    expect((await tried.explain(was!)).entries.map(({ trajectoryId }) => trajectoryId)).toContain(
      't',
    );
    const [from, to] = [START, clock.now()].map((system) => ({ valid: START, system }));
    const { added, removed } = await tried.diff(from!, to!);
    expect([objects(added), objects(removed)]).toEqual([['none'], ['aspirin']]);
    await expectSound(store);
  });

  test('a change of too many inherited facts is refused, but works in the source', async () => {
    const { store, clock, memory, branch } = await begun(kind);
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        subject: 'p7',
        predicate: 'allergy',
        object: `${from + n}`,
      }));
    for (const from of [0, 600, 1_200]) await committed(memory.assertMany(many(from, 600)));
    await committed(memory.assertMany(many(0, 600).map((each) => ({ ...each, subject: 'p8' }))));
    clock.forward(1_000);
    const { memory: tried, trajectory } = await branch('b');
    const { length } = trajectory;
    for (const said of [many(5_000, 1), [...many(5_000, 1), drug('aspirin')]])
      expect(await tried.assertMany(said)).toMatchObject({
        ruling: 'rejected',
        detail: expect.stringMatching(/^too_much_inherited: The branch inherits 1800 facts/),
      });
    expect(trajectory.length).toBe(length + 2);
    // Other facts of it can be changed, and so can the inherited one in its source.
    await committed(tried.assertMany([drug('aspirin'), { ...many(5_000, 1)[0]!, subject: 'p8' }]));
    await committed(memory.assertMany(many(5_000, 1)));
    expect(await of(tried, { predicate: 'allergy', limit: 3_000 })).toHaveLength(1_800);
    await expectSound(store);
  });

  test('full-text search in a branch finds only visible facts, best first', async () => {
    const embedder = {
      id: 'lengths',
      dimensions: 2,
      embed: async (texts: readonly string[]) =>
        texts.map((text) => Float32Array.of(text.length, 1)),
    };
    const { assize, clock, memory, branch } = await begun(kind, { memory: { embedder } });
    for (let n = 0; n < 30; n++)
      await committed(
        memory.assert({ subject: `other ${n}`, predicate: 'drug', object: `cough ${n}` }),
      );
    await committed(
      memory.assert({ subject: 'p1', predicate: 'drug', object: 'cough cough cough at night' }),
    );
    await committed(memory.assert({ subject: 'p2', predicate: 'drug', object: 'cough and fever' }));
    clock.forward(1_000);
    const { memory: tried } = await branch('b');
    clock.forward(1_000);
    await committed(
      memory.assert({ subject: 'p3', predicate: 'drug', object: 'cough cough cough since noon' }),
    );
    await committed(
      tried.correct({
        subject: 'p1',
        predicate: 'drug',
        object: 'no complaint',
        valid: { from: START, to: OPEN_END },
      }),
    );
    await committed(
      tried.assert({ subject: 'p4', predicate: 'drug', object: 'cough fever cough fever' }),
    );
    const { memory: deeper } = await branch('c', 'b');
    clock.forward(1_000);
    await committed(
      tried.retract({ subject: 'p4', predicate: 'drug', valid: { from: START, to: OPEN_END } }),
    );
    for (const by of ['text', 'embedding', 'hybrid'] as const)
      for (const view of [memory, tried, deeper]) {
        const { facts } = await view.recall({ valid: 'any', kind: 'all' });
        const all = await view.recall({
          text: 'a cough, a fever',
          by,
          valid: 'any',
          kind: 'all',
          limit: 1_000,
        });
        const expected =
          by === 'text' ? facts.filter(({ object }) => /cough|fever/.test(object)) : facts;
        const named = (rows: readonly FactRow[]) => rows.map((row) => JSON.stringify(row)).sort();
        expect(named(all.facts)).toEqual(named(expected));
        const scores = all.scores!.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        for (const limit of [1, 2, 5]) {
          const best = await view.recall({
            text: 'a cough, a fever',
            by,
            valid: 'any',
            kind: 'all',
            limit,
          });
          expect(best.scores!.map(({ score }) => score)).toEqual(scores.slice(0, limit));
          expect(best.isTruncated).toBe(true);
        }
      }
    const first = async (view: Pick<Memory, 'recall'>) =>
      (await view.recall({ text: 'fever', limit: 1 })).facts[0]?.subject;
    expect([await first(memory), await first(tried), await first(deeper)]).toEqual([
      'p2',
      'p2',
      'p4',
    ]);
    expect(await first(assize.memory('ward', 'c'))).toBe('p4');
  });

  test('a late change with an earlier time is not in the facts a branch inherits', async () => {
    const { store, clock, memory, branch } = await begun(kind);
    const slow = new HandClock();
    const other = await runtimeOver(store, [clinic], { ports: { clock: slow } }).create(clinic, {
      trajectoryId: 's',
      writs: [writ],
    });
    await committed(memory.assert({ ...drug('aspirin'), valid: { from: START, to: OPEN_END } }));
    clock.forward(10_000);
    await committed(memory.assert({ subject: 'p8', predicate: 'drug', object: 'nothing' }));
    const { memory: tried } = await branch('b');
    const { memory: untried } = await branch('c');
    clock.forward(1_000);
    const late = addMicros(clock.now(), -1_000_000);
    await committed(tried.change({ ...drug('none'), from: clock.now() }));
    slow.forward(5_000);
    await committed(
      other
        .memory({ space: 'ward', writ })
        .correct({ ...drug('late'), valid: { from: START, to: late } }),
    );
    // It is visible only in branches that have not inherited yet.
    expect(await of(untried)).toContain('late');
    for (const system of [START, slow.now(), addMicros(clock.now(), -1), clock.now()])
      expect([system, await of(tried, { system, valid: START })]).toEqual([system, ['aspirin']]);
    expect(objects(await tried.history({ subject: 'p7', kind: 'all' }))).not.toContain('late');
    expect(await of(tried, { system: 'any', valid: START })).toEqual(['aspirin', 'aspirin']);
    await expectSound(store);
  });

  test('a branch sees a change of its source that followed a fast clock', async () => {
    const { store, clock, assize, memory, branch } = await begun(kind);
    const fast = new HandClock();
    fast.forward(3_600_000);
    const other = await runtimeOver(store, [clinic], { ports: { clock: fast } }).create(clinic, {
      trajectoryId: 's',
      writs: [writ],
    });
    const theirs = other.memory({ space: 'ward', writ });
    const always = { from: START, to: OPEN_END };
    await committed(memory.assert({ ...drug('water'), subject: 'p1', valid: always }));
    await committed(theirs.assert({ ...drug('aspirin'), valid: always }));
    clock.forward(1_000);
    await committed(memory.change({ ...drug('cough syrup'), from: START }));
    await committed(theirs.assert({ ...drug('unseen'), subject: 'p6', valid: always }));
    clock.forward(1_000);
    const { memory: tried } = await branch('b');
    const { memory: deeper } = await branch('c', 'b');
    clock.forward(1_000);
    // Between the start of the branch and that clock: it is not visible.
    await committed(memory.assert({ ...drug('later'), subject: 'p8', valid: always }));
    await committed(theirs.change({ ...drug('tea'), from: START }));
    for (const view of [tried, deeper, assize.memory('ward', 'b')]) {
      const recalled = async (query: object) =>
        objects((await view.recall({ valid: 'any', ...query })).facts);
      expect(await recalled({ subject: 'p7' })).toEqual(['cough syrup']);
      expect(await recalled({ subject: 'p7', predicate: 'drug' })).toEqual(['cough syrup']);
      expect(await recalled({})).toEqual(['water', 'cough syrup']);
      expect(await recalled({ system: clock.now() })).toEqual(['water']);
      expect(await recalled({ system: fast.now(), subject: 'p7' })).toEqual(['aspirin']);
      expect(await recalled({ text: 'cough water later tea unseen' })).toEqual([
        'water',
        'cough syrup',
      ]);
      expect((await view.history({ subject: 'p7' })).map(({ object }) => object)).not.toContain(
        'tea',
      );
    }
    await committed(deeper.change({ ...drug('none'), from: START }));
    expect(await of(deeper)).toEqual(['none']);
    await committed(tried.assert({ ...drug('salt'), subject: 'p8', valid: always }));
    const retracted = await committed(
      tried.retract({ subject: 'p7', predicate: 'drug', valid: always }),
    );
    const [first] = retracted.payload.delta.beliefs;
    expect([first!.version, first!.inherit!.rows.length]).toEqual([3, 1]);
    expect([await of(tried), await of(memory)]).toEqual([[], ['tea']]);
    await expectSound(store);
  });

  test('a branch of a branch sees a source change that followed a fast clock', async () => {
    const { store, clock, memory, branch } = await begun(kind);
    const fast = new HandClock();
    fast.forward(3_600_000);
    const other = await runtimeOver(store, [clinic], { ports: { clock: fast } }).create(clinic, {
      trajectoryId: 's',
      writs: [writ],
    });
    await committed(
      other.memory({ space: 'ward', writ }).assert({ ...drug('aspirin'), valid: { from: START } }),
    );
    await committed(memory.change({ ...drug('syrup'), from: START }));
    const { memory: tried } = await branch('b');
    // Its own change follows once that clock is passed.
    clock.forward(7_200_000);
    await committed(tried.change({ ...drug('tea'), from: START }));
    const { memory: deeper } = await branch('c', 'b');
    const { memory: deepest } = await branch('d', 'c');
    for (const view of [tried, deeper, deepest]) {
      expect(await of(view)).toEqual(['tea']);
      expect(await of(view, { predicate: 'drug' })).toEqual(['tea']);
      expect(await of(view, { text: 'syrup tea' })).toEqual(['tea']);
    }
    clock.forward(1_000);
    for (const [view, object] of [
      [deepest, 'water'],
      [deeper, 'none'],
    ] as const) {
      const [first] = (await committed(view.change({ ...drug(object), from: START }))).payload.delta
        .beliefs;
      expect([first!.version, first!.inherit!.rows.length]).toEqual([4, 1]);
      expect(await of(view)).toEqual([object]);
    }
    expect([await of(tried), await of(memory)]).toEqual([['tea'], ['syrup']]);
    await expectSound(store);
  });

  test('a branch of a branch starts no earlier than its source', async () => {
    const { store, memory, branch, trajectory } = await begun(kind);
    for (const object of ['aspirin', 'ibuprofen', 'none'])
      await committed(memory.change({ ...drug(object), from: START }));
    expect(trajectory.head).toBeDefined();
    await branch('b');
    // It starts at the time of the clock; three changes of one partition are ahead of that.
    const { memory: tried } = await branch('c', 'b');
    expect(await of(tried)).toEqual(['none']);
    const [first] = (await committed(tried.change({ ...drug('salt'), from: START }))).payload.delta
      .beliefs;
    expect(await of(tried)).toEqual(['salt']);
    // The facts as of the start of the branch stay, for all versions.
    const [other] = (await committed(tried.assert({ ...drug('none'), subject: 'p8' }))).payload
      .delta.beliefs;
    expect([first!.system_time, other!.system_time]).toEqual([
      addMicros(START, 3),
      addMicros(START, 3),
    ]);
    await expectSound(store);
  });

  test('inheritance is complete even if the source gets its rows concurrently', async () => {
    const { store, clock, memory, branch } = await begun(kind);
    await committed(memory.assert(drug('aspirin')));
    clock.forward(1_000);
    const { memory: tried } = await branch('b');
    const { memory: deeper } = await branch('c', 'b');
    clock.forward(1_000);
    const partitions = store.branchPartitions.bind(store);
    let isFirst = true;
    store.branchPartitions = async (query) => {
      if (isFirst) {
        isFirst = false;
        await committed(tried.change(drug('ibuprofen')));
      }
      return partitions(query);
    };
    clock.forward(1_000);
    await committed(deeper.change(drug('none')));
    expect(isFirst).toBe(false);
    expect(await of(deeper, { valid: START })).toEqual(['aspirin']);
    expect(await of(deeper, { valid: clock.now() })).toEqual(['none']);
    await expectSound(store);
  });

  test('a branch inherits source changes of its start instant, even after a read', async () => {
    const { store, clock, assize, memory, branch } = await begun(kind);
    const elsewhere = runtimeOver(store, [clinic], { ports: { clock } });
    const theirs = (await elsewhere.open('t', clinic)).memory({ space: 'ward', writ });
    const early = { from: OPEN_START, to: START };
    const late = { from: addMicros(START, 9_000), to: OPEN_END };
    // Without an earlier statement, or with one that the change must follow.
    for (const subject of ['p7', 'p8']) {
      if (subject === 'p8')
        await committed(memory.assert({ ...drug('aspirin'), subject, valid: early }));
      clock.forward(1_000);
      await committed(memory.assert({ ...drug('tea'), subject: `beside ${subject}` }));
      const { memory: tried } = await branch(`for-${subject}`);
      await committed(tried.retract({ subject, predicate: 'drug', valid: late }));
      const [change] = (
        await committed(theirs.assert({ ...drug('ibuprofen'), subject, valid: early }))
      ).payload.delta.beliefs;
      expect(change).toMatchObject({ system_time: clock.now() });
      expect(objects((await tried.recall({ subject, valid: 'any' })).facts)).toEqual(['ibuprofen']);
      const { payload } = await committed(tried.assert({ ...drug('none'), subject, valid: late }));
      expect(payload.delta.beliefs).toMatchObject([{ inherit: { until: clock.now() } }]);
      expect(objects((await tried.recall({ subject, valid: 'any' })).facts)).toEqual([
        'ibuprofen',
        'none',
      ]);
    }
    // Also if the source starts its own partition, for a branch of a branch.
    clock.forward(1_000);
    const { memory: between } = await branch('between');
    await committed(between.assert({ ...drug('tea'), subject: 'beside' }));
    const { memory: deeper } = await branch('deeper', 'between');
    await committed(deeper.retract({ subject: 'p9', predicate: 'drug', valid: late }));
    const also = (await elsewhere.open('between', clinic)).memory({ space: 'ward', writ });
    await committed(also.assert({ ...drug('ibuprofen'), subject: 'p9', valid: early }));
    await committed(deeper.assert({ ...drug('none'), subject: 'p9', valid: late }));
    expect(objects((await deeper.recall({ subject: 'p9', valid: 'any' })).facts)).toEqual([
      'ibuprofen',
      'none',
    ]);
    await expectSound(store);
    await elsewhere.close();
    await assize.close();
  });

  test.each([
    ['facts', 0],
    ['facts', 1],
    ['facts', 2],
    ['branchPartitions', 0],
    ['branchPartitions', 1],
  ] as const)(
    'a recall sees each row once during concurrent inheritance: %s %i',
    async (read, at) => {
      const { store, clock, memory, branch } = await begun(kind);
      await committed(memory.assert(drug('aspirin')));
      clock.forward(1_000);
      const { memory: tried } = await branch('b');
      const { memory: deeper } = await branch('c', 'b');
      clock.forward(1_000);
      const change = drug('none');
      withoutMoments(store);
      const plain = {
        facts: store.facts.bind(store),
        branchPartitions: store.branchPartitions.bind(store),
      };
      for (const [view, begins] of [
        [deeper, tried],
        [deeper, deeper],
      ] as const) {
        let calls = 0;
        const during = async (): Promise<void> => {
          if (calls++ !== at) return;
          Object.assign(store, plain);
          await committed(begins.change({ ...change, from: clock.now() }));
        };
        store[read] = (async (query: never) => {
          await during();
          return plain[read](query);
        }) as never;
        const before = await of(view, { valid: START });
        Object.assign(store, plain);
        expect([calls > at, before]).toEqual([true, ['aspirin']]);
        expect(await of(view, { valid: START })).toEqual(['aspirin']);
        clock.forward(1_000);
      }
      await expectSound(store);
    },
  );

  test('a partition inherited while many own partitions are read is included', async () => {
    const { store, clock, memory, branch } = await begun(kind);
    await committed(memory.assert({ ...drug('aspirin'), subject: 'z' }));
    clock.forward(1_000);
    const { memory: tried } = await branch('b');
    clock.forward(1_000);
    const claims = Array.from({ length: 1_000 }, (_, n) => ({ ...drug('tea'), subject: `a${n}` }));
    await committed(tried.assertMany(claims));
    withoutMoments(store);
    const partitions = store.branchPartitions.bind(store);
    let isFirst = true;
    store.branchPartitions = async (query) => {
      if (query.after !== undefined && isFirst) {
        isFirst = false;
        await committed(tried.change({ ...drug('none'), subject: 'z', from: clock.now() }));
      }
      return partitions(query);
    };
    const { facts } = await tried.recall({ valid: 'any', limit: 5_000 });
    expect(isFirst).toBe(false);
    expect(objects(facts.filter(({ subject }) => subject === 'z'))).toEqual(['aspirin', 'none']);
    expect(facts).toHaveLength(1_002);
  });

  test('an assertion in a branch does not date the same assertion elsewhere', async () => {
    const oracle = createOracle({
      clock: new HandClock(),
      store: await openStore('memory:'),
      mode: 'record',
    });
    const choose: Judge['choose'] = ({ members }) =>
      members.find(({ object }) => object === 'red')!.claim;
    const judge = { oracle, choose };
    const { clock, memory, branch } = await begun(kind, { memory: { judge } });
    await committed(memory.assert({ subject: 'p7', predicate: 'triage', object: 'green' }));
    clock.forward(1_000);
    const { memory: tried } = await branch('b');
    const said = { subject: 'p7', predicate: 'triage', object: 'red', source: 'ward round' };
    await committed(tried.assert(said));
    clock.forward(3_600_000);
    await committed(memory.assert(said));
    const { facts } = await memory.recall({ subject: 'p7', predicate: 'triage', valid: 'any' });
    expect(facts.find(({ object }) => object === 'red')?.valid_from).toBe(clock.now());
  });

  test('a child that a branch delegated to asserts facts in the branch', async () => {
    const lead = keysOf(11);
    const { store, assize, trajectory, memory } = await begun(kind);
    await committed(memory.assert(drug('aspirin')));
    const granted = writFor(lead.publicKey, { trajectory: 'b' });
    const begins = await assize.branch('t', trajectory.head, {
      trajectoryId: 'b',
      note: 'try',
      writs: [granted, writ],
    });
    const child = await begins.delegations.delegate({
      task: 'ask around',
      writ: granted,
      subject: 'helper',
      childTrajectoryId: 'c',
      privateKey: lead.privateKey,
    });
    const [root] = await store.entries('c');
    const [helper] = (readRow(root!).payload as RootPayload).writs as unknown as Writ[];
    const asked = child.memory({ space: 'ward', writ: writId(helper!) });
    expect(await of(asked)).toEqual(['aspirin']);
    await committed(asked.change({ ...drug('none'), from: START }));
    for (const view of [asked, begins.memory({ space: 'ward', writ }), assize.memory('ward', 'c')])
      expect(await of(view)).toEqual(['none']);
    expect(await of(memory)).toEqual(['aspirin']);
    expect(await store.branches()).toEqual([{ space: 'ward', branch: 'b' }]);
    await expectSound(store);
  });

  test('an assertion known at the branch’s start is a duplicate, a later one not', async () => {
    const { store, clock, memory, branch } = await begun(kind);
    const letter = { ...drug('aspirin'), valid: { from: START }, source: 'letter 1' };
    await committed(memory.assert(letter));
    clock.forward(1_000);
    // It no longer holds when the branch starts.
    const always = { from: START, to: '9000-01-01T00:00:00.000000Z' };
    await committed(memory.retract({ subject: 'p7', predicate: 'drug', valid: always }));
    const { memory: tried } = await branch('b');
    clock.forward(1_000);
    const second = {
      ...drug('aspirin'),
      valid: { from: START, to: clock.now() },
      source: 'letter 2',
    };
    await committed(memory.assert(second));
    for (const [said, changes] of [
      [letter, 0],
      [second, 1],
      [second, 0],
    ] as const)
      expect((await committed(tried.assert(said))).payload.delta.beliefs).toHaveLength(changes);
    await expectSound(store);
  });

  test('a human answers a branch’s question, and a judge is asked once for all', async () => {
    const questions: string[] = [];
    const store = await openStore('memory:');
    const oracle = createOracle({ store, clock: new HandClock(), mode: 'record' });
    const { clock, memory, branch } = await begun(kind, {
      memory: {
        judge: {
          oracle,
          choose: ({ request, members }) => {
            questions.push(request);
            return members.find(({ object }) => object === 'urgent')!.claim;
          },
        },
      },
    });
    const said = (predicate: string, object: string, source: string) => ({
      ...{ subject: 'p7', predicate, object, source },
      valid: { from: START },
    });
    await committed(memory.assert(said('triage', 'urgent', '1')));
    await committed(memory.assert(said('diagnosis', 'flu', '2')));
    clock.forward(1_000);
    const { memory: tried, trajectory } = await branch('b');
    await committed(tried.assert(said('triage', 'can wait', '3')));
    await committed(memory.assert(said('triage', 'can wait', '3')));
    expect(questions).toHaveLength(1);
    const asked = await tried.assert(said('diagnosis', 'gout', '4'));
    if (asked.ruling !== 'escalated') throw new Error(JSON.stringify(asked));
    const [question] = await trajectory.approvals.questionsOf(asked.pending);
    const { claim: winner } = question!.members.find(({ object }) => object === 'gout')!;
    const answers = [{ request: question!.request, winner }];
    await trajectory.approvals.approve(asked.pending, {
      principal: 'dr house',
      method: 'test',
      answers,
    });
    expect(await of(tried, { predicate: 'diagnosis' })).toEqual(['gout']);
    expect(await of(memory, { predicate: 'diagnosis' })).toEqual(['flu']);
    expect(await of(tried, { predicate: 'triage' })).toEqual(['urgent']);
  });

  test('facts erased in the source leave the branch and are not written again', async () => {
    const { store, clock, trajectory, memory, branch } = await begun(kind);
    await committed(memory.assert(drug('aspirin of hers')));
    clock.forward(1_000);
    const [one, two] = [await branch('b'), await branch('c')];
    clock.forward(1_000);
    // Both have read it; one has its own rows.
    await committed(one.memory.change({ ...drug('salt of hers'), from: clock.now() }));
    await committed(
      two.memory.retract({ ...drug('something else'), valid: { from: START, to: clock.now() } }),
    );
    const elsewhere = await runtimeOver(store, [clinic], { ports: { clock } }).open('t', clinic);
    const erased = await elsewhere.erase({
      beliefs: [{ space: 'ward', subject: 'p7' }],
      reason: 'asked',
      writ: officer,
    });
    expect(erased).toMatchObject({ ruling: 'committed', remaining: ['b'] });
    clock.forward(1_000);
    for (const { memory: tried } of [one, two]) await committed(tried.assert(drug('none')));
    expect(trajectory.id).toBe('t');
    const left = await runtimeOver(store, [clinic], { ports: { clock } }).open('b', clinic);
    await left.erase({
      beliefs: [{ space: 'ward', subject: 'p7' }],
      reason: 'asked',
      writ: officer,
    });
    const text = await textOf(store);
    expect(text).not.toMatch(/(aspirin|salt) of hers/);
    await expectSound(store);
  });

  test.each([
    ['has of its source', false],
    ['has taken over', true],
  ])('values erased concurrently are in no question about facts a branch %s', async (_, isOwn) => {
    const { store, clock, trajectory, memory, branch } = await begun(kind);
    const diagnosis = (object: string) => ({
      subject: 'p7',
      predicate: 'diagnosis',
      object,
      valid: { from: START },
    });
    await committed(memory.assert(diagnosis('flu of hers')));
    clock.forward(1_000);
    const { memory: tried, trajectory: b } = await branch('b');
    clock.forward(1_000);
    const always = { from: addMicros(START, -2), to: addMicros(START, -1) };
    const before = { ...diagnosis('none of hers'), valid: always };
    if (isOwn) await committed(tried.assert(before));
    // The question was asked, so the partition is cached here.
    const asked = await tried.assert(diagnosis('gout'));
    expect(asked.ruling).toBe('escalated');
    await b.approvals.reject((asked as { pending: string }).pending, {
      principal: 'dr house',
      method: 'test',
      reason: 'later',
    });
    const elsewhere = await runtimeOver(store, [clinic], { ports: { clock } }).open('t', clinic);
    const all = { space: 'ward', subject: 'p7' };
    // The names stay, so the question quotes a blob without a text.
    const [row] = (await memory.recall({ subject: 'p7', valid: 'any' })).facts;
    const place = (beliefs: object) =>
      ({ beliefs: [beliefs], reason: 'asked', writ: officer }) as never;
    const erased = await elsewhere.erase(place(isOwn ? all : { ...all, claim: row!.lineage }));
    expect(erased).toMatchObject({ ruling: 'committed', remaining: ['b'] });
    const again = await tried.assert(diagnosis('cold'));
    if (again.ruling !== 'escalated') throw new Error(JSON.stringify(again));
    const quoted = (await b.approvals.questionsOf(again.pending)).flatMap(({ members }) =>
      members.map(({ object }) => object),
    );
    expect(quoted.some((object) => object.includes('$erased'))).toBe(true);
    const there = await runtimeOver(store, [clinic], { ports: { clock } }).open('b', clinic);
    await there.erase(place(all));
    expect(trajectory.id).toBe('t');
    expect(await textOf(store)).not.toMatch(/(flu|none) of hers/);
    await expectSound(store);
  });

  test.each([
    ['has of its source', false],
    ['has taken over', true],
  ])('no judge is shown erased values of facts that a branch %s', async (_, isOwn) => {
    const shown: string[] = [];
    const oracle = createOracle({
      clock: new HandClock(),
      store: await openStore('memory:'),
      mode: 'record',
    });
    const choose: Judge['choose'] = ({ members }) => {
      shown.push(...members.map(({ object }) => object));
      return members[0]!.claim;
    };
    const { store, clock, memory, branch } = await begun(kind, {
      memory: { judge: { oracle, choose } },
    });
    const triage = (object: string, days: number) => ({
      ...{ subject: 'p7', predicate: 'triage', object },
      valid: { from: addMicros(START, days), to: addMicros(START, days + 1) },
    });
    await committed(memory.assert(triage('urgent of hers', 1)));
    await committed(memory.assert({ ...triage('seen', 9), subject: 'p7' }));
    clock.forward(1_000);
    const { memory: tried } = await branch('b');
    clock.forward(1_000);
    // It is cached here, without a question.
    await (isOwn ? committed(tried.assert(triage('green', 2))) : tried.retract(triage('red', 5)));
    const [row] = (await memory.recall({ subject: 'p7', valid: 'any' })).facts;
    const elsewhere = await runtimeOver(store, [clinic], { ports: { clock } }).open('t', clinic);
    const beliefs = [{ space: 'ward', subject: 'p7', claim: row!.lineage }];
    await elsewhere.erase({ beliefs, reason: 'asked', writ: officer });
    await committed(tried.assert(triage('can wait', 1)));
    expect(shown).toContain('can wait');
    expect(shown).not.toContain('urgent of hers');
    await expectSound(store);
  });

  test('a fact erased between the read and the question is not asked about', async () => {
    const { store, clock, memory } = await begun(kind);
    const diagnosis = (object: string) => ({
      subject: 'p7',
      predicate: 'diagnosis',
      object,
      valid: { from: START },
    });
    await committed(memory.assert(diagnosis('flu of hers')));
    const other = await runtimeOver(store, [clinic], { ports: { clock } }).create(clinic, {
      trajectoryId: 's',
      writs: [writ],
    });
    const said = other.memory({ space: 'ward', writ });
    const commit = store.commit.bind(store);
    let isErased = false;
    store.commit = async (batch) => {
      if (batch.repeats !== undefined && !isErased) {
        isErased = true;
        const eraser = await runtimeOver(store, [clinic], { ports: { clock } }).open('t', clinic);
        await eraser.erase({
          beliefs: [{ space: 'ward', subject: 'p7' }],
          reason: 'asked',
          writ: officer,
        });
      }
      return commit(batch);
    };
    // Nothing contradicts it any more.
    await committed(said.assert(diagnosis('gout')));
    expect(isErased).toBe(true);
    expect(await textOf(store)).not.toContain('flu of hers');
    await expectSound(store);
  });

  test('an erasure leaves another trajectory’s question to an erasure there', async () => {
    const { store, clock, memory, trajectory } = await begun(kind);
    const diagnosis = (object: string) => ({
      subject: 'p7',
      predicate: 'diagnosis',
      object,
      valid: { from: START },
    });
    await committed(memory.assert(diagnosis('flu of hers')));
    const other = await runtimeOver(store, [clinic], { ports: { clock } }).create(clinic, {
      trajectoryId: 's',
      writs: [writ],
    });
    const asked = await other.memory({ space: 'ward', writ }).assert(diagnosis('gout'));
    expect(asked.ruling).toBe('escalated');
    const place = { beliefs: [{ space: 'ward', subject: 'p7' }], reason: 'asked', writ: officer };
    expect(await trajectory.erase(place)).toMatchObject({ ruling: 'committed', remaining: ['s'] });
    expect(await textOf(store)).toContain('flu of hers');
    expect(await other.erase(place)).toMatchObject({ ruling: 'committed', remaining: [] });
    expect(await textOf(store)).not.toMatch(/flu of hers|gout|p7/);
    await expectSound(store);
  });

  test('an erasure in a branch leaves its source’s facts and reports that', async () => {
    const { store, clock, trajectory, memory, branch } = await begun(kind);
    await committed(
      memory.assert({ ...drug('aspirin of hers'), valid: { from: START, to: OPEN_END } }),
    );
    clock.forward(1_000);
    const { memory: tried, trajectory: b } = await branch('b');
    clock.forward(1_000);
    await committed(tried.change({ ...drug('salt of hers'), from: clock.now() }));
    const place = { beliefs: [{ space: 'ward', subject: 'p7' }], reason: 'asked', writ: officer };
    expect(await b.erase(place)).toMatchObject({ ruling: 'committed', remaining: ['t'] });
    expect(await of(memory)).toEqual(['aspirin of hers']);
    expect(await textOf(store)).not.toContain('salt of hers');
    expect((await of(tried))[0]).toBe('aspirin of hers');
    await expectSound(store);
    // Only the names of the inherited rows are left.
    expect(await trajectory.erase(place)).toMatchObject({ ruling: 'committed', remaining: ['b'] });
    expect(await store.branches()).toEqual([{ space: 'ward', branch: 'b' }]);
    expect(await b.erase(place)).toMatchObject({ ruling: 'committed', remaining: [] });
    expect(await store.branches()).toEqual([]);
    expect(await textOf(store)).not.toContain('p7');
    await expectSound(store);
    await committed(tried.assert(drug('new')));
    expect(await of(tried)).toEqual(['new']);
    // The same fact in another partition stays.
    await committed(tried.assert({ ...drug('new'), subject: 'p9' }));
    await committed(memory.assert({ ...drug('new'), subject: 'p9' }));
    await b.erase({ ...place, beliefs: [{ space: 'ward', subject: 'p9' }] });
    expect(await store.branchPartitions({ space: 'ward', branch: 'b', subject: 'p9' })).toEqual([]);
    await expectSound(store);
  });

  test('an entry’s consequences are distinct from those of an equal branch fact', async () => {
    const { assize, clock, trajectory, memory, branch } = await begun(kind);
    const { memory: tried, trajectory: b } = await branch('b');
    clock.forward(1_000);
    const same = { ...drug('aspirin'), source: 'letter' };
    const [shared, own] = [
      await committed(memory.assert(same)),
      await committed(tried.assert(same)),
    ];
    const [ofShared, ofOwn] = [
      await memory.recall({ subject: 'p7' }),
      await tried.recall({ subject: 'p7' }),
    ];
    const key = ({ facts: [row] }: typeof ofOwn) => [row!.fact_id, row!.system_time_start];
    expect(key(ofOwn)).toEqual(key(ofShared));
    const visit = (observations: (typeof ofOwn)['observation'][]) => ({
      ...intent('visit', { patient: 'p8', weight: '70 kg' }, writ),
      role: { name: 'nurse', params: {} },
      observations,
    });
    const inBranch = await committed(b.propose(visit([ofOwn.observation]) as never));
    const outside = await committed(trajectory.propose(visit([ofShared.observation]) as never));
    expect((await assize.dependents(own.id)).map(({ id }) => id)).toEqual([inBranch.id]);
    expect((await assize.dependents(shared.id)).map(({ id }) => id)).toEqual([outside.id]);
  });
});

test('a visible memory that has returned all its matches is not searched again', async () => {
  const { store, memory, branch } = await begun('memory');
  for (const n of [1, 2, 3])
    await committed(memory.assert({ ...drug('aspirin'), subject: `p${n}` }));
  const { memory: own } = await branch('b');
  for (const n of [1, 2])
    await committed(
      own.retract({ subject: `p${n}`, predicate: 'drug', valid: { from: START, to: OPEN_END } }),
    );
  const searched: string[] = [];
  const search = store.factsByText.bind(store);
  store.factsByText = (query) => {
    searched.push(`${query.branch ?? 'shared'} ${query.limit}`);
    return search(query);
  };
  const { facts } = await own.recall({ text: 'aspirin', valid: 'any', limit: 1 });
  expect(facts.map(({ subject }) => subject)).toEqual(['p3']);
  const depths = (of: string) =>
    searched.filter((each) => each.startsWith(of)).map((each) => each.split(' ')[1]);
  expect(depths('b')).toHaveLength(1);
  expect(depths('shared').length).toBeGreaterThan(1);
});
