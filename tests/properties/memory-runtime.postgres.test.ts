import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain } from '#kernel';
import { type CommitPayload, readRow } from '#ledger';
import { claimId, type FactRow, OPEN_END, OPEN_START, readWitness } from '#memory';
import { type AssertInput, checkMemory, type Memory, type Ruling, rebuildMemory } from '#runtime';
import type { Store } from '#stores';
import { cases } from '../support/cases.ts';
import { HandClock, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryStore } from '../support/ledger/stores.ts';
import {
  type AssertedCells,
  CELLS,
  MemoryModel,
  type MemoryOperation,
  type Rules,
} from '../support/models/memory-model.ts';

// Several writers, in two runtimes, make concurrent statements about two subjects. The result
// matches a model of cells that applies the same statements one after the other, in ledger order.

const PREDICATES = {
  last: { cardinality: 'single-valued', strategy: 'lww' },
  newest: { cardinality: 'single-valued', strategy: 'lww-valid' },
  surest: { cardinality: 'single-valued', strategy: 'evi' },
  dropped: { cardinality: 'single-valued', strategy: 'lww', remainder: 'drop' },
  several: { cardinality: 'multi-valued', strategy: 'evi' },
} as const;

const believer = defineDomain({
  name: 'believer',
  version: '1',
  state: z.object({}),
  initial: {},
  processes: {},
  roles: {},
  actions: {},
  invariants: [],
  memory: { predicates: PREDICATES },
});

const writ = writFor('writer');
const KEY = new Uint8Array(32).fill(3);
const SPACE = 'space';
const day = (n: number): string => String(n + 1).padStart(2, '0');
const border = (n: number): string =>
  n === 0 ? OPEN_START : n === CELLS ? OPEN_END : `2026-01-${day(n)}T00:00:00.000000Z`;
const inCell = (n: number): string => `2026-01-${day(n)}T12:00:00.000000Z`;

const span = fc
  .tuple(fc.nat(CELLS - 1), fc.integer({ min: 1, max: CELLS }))
  .map(([from, length]) => ({
    from,
    to: Math.min(from + length, CELLS),
  }));
const drawnSaid = fc.record({
  span,
  object: fc.constantFrom('amoxicillin', 'penicillin', 'none'),
  confidence: fc.constantFrom(0, 0.5, 1),
});
const drawnDeed = fc.record({
  verb: fc.constantFrom('assert', 'assert', 'assert', 'change', 'correct', 'retract'),
  batch: fc.array(drawnSaid, { minLength: 1, maxLength: 3 }),
  subject: fc.constantFrom('ann', 'ben'),
  predicate: fc.constantFrom(...(Object.keys(PREDICATES) as (keyof typeof PREDICATES)[])),
  writer: fc.nat(2),
});
type Drawn = typeof drawnDeed extends fc.Arbitrary<infer T> ? T : never;

interface Done {
  readonly deed: MemoryOperation;
  readonly payload: CommitPayload;
  readonly about: string;
}

onEveryStore((stores) => {
  test('concurrent assertions give the facts of a serial execution', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(drawnDeed, { minLength: 1, maxLength: 6 }), {
          minLength: 1,
          maxLength: 4,
        }),
        async (waves) => {
          const place = stores.newPlace();
          const store = await place.open();
          // A writer in another process has its own handle.
          const theirs = stores.kind === 'postgres' ? await place.open() : store;
          try {
            await store.claimKey(KEY);
            const writers = await writersOf(store, theirs);
            const done: Done[] = [];
            const unsaid = new Set<Drawn>();
            for (const [wave, deeds] of waves.entries())
              await Promise.all(
                deeds.map(async (drawn, i) => {
                  const each = await doDeed(writers.memories[drawn.writer]!, drawn, `${wave}-${i}`);
                  done.push(each);
                  // A correction of a fact without a record changes nothing, and so asserts
                  // nothing.
                  if (drawn.verb === 'correct' && each.payload.delta.beliefs.length === 0)
                    unsaid.add(drawn);
                }),
              );
            await expectModel(writers.memories[2]!, done);
            await expectProjection(store);
            await expectSaidOnce(
              store,
              waves.map((deeds) => deeds.map((drawn) => (unsaid.has(drawn) ? undefined : drawn))),
            );
            await writers.close();
          } finally {
            for (const each of new Set([store, theirs])) await each.close();
          }
        },
      ),
      // To make a failure on a server smaller takes longer than a test may.
      {
        numRuns: cases(stores.kind === 'postgres' ? 12 : 25),
        endOnFailure: stores.kind === 'postgres',
      },
    );
  });
});

async function writersOf(
  ...stores: [Store, Store]
): Promise<{ memories: Memory[]; close: () => Promise<void> }> {
  const clock = new HandClock();
  const runtimes = stores.map((store) => runtimeOver(store, [believer], { ports: { clock } }));
  const trajectories = [
    await runtimes[0]!.create(believer, { trajectoryId: 'a', writs: [writ] }),
    await runtimes[0]!.create(believer, { trajectoryId: 'b', writs: [writ] }),
    await runtimes[1]!.open('a', believer),
  ];
  return {
    memories: trajectories.map((trajectory) => trajectory.memory({ space: SPACE, writ })),
    close: async () => {
      for (const runtime of runtimes) await runtime.close();
    },
  };
}

async function doDeed(memory: Memory, drawn: Drawn, source: string): Promise<Done> {
  const { subject, predicate } = drawn;
  const verb = drawn.verb === 'change' && predicate === 'several' ? 'assert' : drawn.verb;
  const about = { subject, predicate };
  const said = drawn.batch.map(
    ({ span: { from, to }, object, confidence }, i): [AssertedCells, AssertInput] => {
      const end = verb === 'change' ? CELLS : to;
      const valid = { from: border(from), to: border(end) };
      const sourceEventId = `${source}-${i}`;
      const claim = claimId(KEY, { space: SPACE, ...about, object, valid, sourceEventId });
      return [
        { claim, object, confidence, from, to: end, token: '' },
        { ...about, object, confidence, valid, source: sourceEventId },
      ];
    },
  );
  const [first, { valid, ...rest }] = said[0] as [
    AssertedCells,
    AssertInput & { valid: { from: string; to: string } },
  ];
  const place = { about: `${subject} ${predicate}` };
  switch (verb) {
    case 'change':
      return {
        ...place,
        deed: { verb, said: first },
        payload: await committed(memory.change({ ...rest, from: valid.from })),
      };
    case 'correct': {
      const was = predicate === 'several' ? { was: said.at(-1)![0].object } : {};
      return {
        ...place,
        deed: { verb, said: first, ...was },
        payload: await committed(memory.correct({ ...rest, valid, ...was })),
      };
    }
    case 'retract':
      return {
        ...place,
        deed: { verb, from: first.from, to: first.to },
        payload: await committed(memory.retract({ ...about, valid })),
      };
    default: {
      const batch = said.map(([one]) => one);
      return {
        ...place,
        deed: { verb: 'assert', batch },
        payload: await committed(memory.assertMany(said.map(([, one]) => one))),
      };
    }
  }
}

async function committed(ruling: Promise<Ruling>): Promise<CommitPayload> {
  const answer = await ruling;
  if (answer.ruling !== 'committed') throw new Error(`unexpected: ${JSON.stringify(answer)}`);
  return readRow(answer.entry).payload as CommitPayload;
}

/**
 * Checks each partition separately, in version order, at each of its system times and at each cell.
 */
async function expectModel(memory: Memory, done: readonly Done[]): Promise<void> {
  for (const about of new Set(done.map((one) => one.about))) {
    const [subject, predicate] = about.split(' ') as [string, keyof typeof PREDICATES];
    const declared = PREDICATES[predicate];
    const rules: Rules = {
      strategy: declared.strategy,
      isSingle: declared.cardinality === 'single-valued',
      keeps: !('remainder' in declared),
    };
    const model = new MemoryModel(rules, () => {
      throw new Error('nobody is to be asked');
    });
    const changes = done.flatMap((one) =>
      one.about === about ? one.payload.delta.beliefs.map((change) => ({ ...one, change })) : [],
    );
    changes.sort((a, b) => a.change.version - b.change.version);
    expect(changes.map(({ change }) => change.version)).toEqual(changes.map((_, i) => i + 1));
    for (const { deed, change } of changes) {
      model.do(deed, change.version);
      for (let cell = 0; cell < CELLS; cell++) {
        const at = { subject, predicate, valid: inCell(cell), system: change.system_time };
        const believed = model.facts.filter(({ cells }) => cells.includes(cell));
        const { facts } = await memory.recall(at);
        const expected = believed.map((fact) => [
          fact.object,
          fact.confidence,
          fact.claim,
          fact.seq,
        ]);
        expect(new Set(facts.map(shown))).toEqual(new Set(expected));
        const lost = (await memory.recall({ ...at, kind: 'audit' })).facts.map((row) =>
          readWitness(row),
        );
        const losses = model.losses.filter((loss) => loss.cell === cell);
        expect(lost.map(({ winner, loser }) => `${winner} ${loser}`).sort()).toEqual(
          losses.map(({ winner, loser }) => `${winner} ${loser}`).sort(),
        );
      }
    }
  }
}

/**
 * A writer that repeats the statements from the same sources, without knowledge of them, changes
 * nothing. Merged statements are included.
 */
async function expectSaidOnce(
  store: Store,
  waves: readonly (readonly (Drawn | undefined)[])[],
): Promise<void> {
  const runtime = runtimeOver(store, [believer], { ports: { clock: new HandClock() } });
  const memory = (await runtime.open('a', believer)).memory({ space: SPACE, writ });
  for (const [wave, deeds] of waves.entries())
    for (const [i, drawn] of deeds.entries()) {
      if (drawn === undefined || drawn.verb === 'retract') continue;
      expect((await doDeed(memory, drawn, `${wave}-${i}`)).payload.delta.beliefs).toEqual([]);
    }
  await runtime.close();
}

const shown = ({ object, confidence, lineage, asserted_seq }: FactRow): unknown => [
  object,
  confidence,
  lineage,
  asserted_seq,
];

/** The store's rows match the ledger, row for row, also after a rebuild. */
async function expectProjection(store: Store): Promise<void> {
  const there = await store.facts({ space: SPACE, kind: 'all', limit: 1_000 });
  const sound = { valid: true, facts: there.length, differences: [], more: 0, changedMeanwhile: 0 };
  expect(await checkMemory(store)).toMatchObject(sound);
  expect(await rebuildMemory(store)).toMatchObject({ facts: there.length });
  expect(await store.facts({ space: SPACE, kind: 'all', limit: 1_000 })).toEqual(there);
  expect(await checkMemory(store)).toMatchObject(sound);
  expect((await store.selfCheck?.()) ?? []).toEqual([]);
}
