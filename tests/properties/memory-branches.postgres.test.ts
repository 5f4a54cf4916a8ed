import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { addMicros, maxInstant } from '#canon';
import { defineDomain } from '#kernel';
import {
  type BeliefChange,
  type CommitPayload,
  type FactVersion,
  type Hash,
  readRow,
} from '#ledger';
import { claimId, OPEN_END, OPEN_START, readWitness } from '#memory';
import {
  type AssertInput,
  checkMemory,
  type Memory,
  type Ruling,
  rebuildMemory,
  verifyStore,
} from '#runtime';
import type { Store } from '#stores';
import { cases } from '../support/cases.ts';
import { HandClock, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryStore } from '../support/ledger/stores.ts';
import {
  type AssertedCells,
  CELLS,
  MemoryModel,
  type MemoryOperation,
} from '../support/models/memory-model.ts';

// Trajectories and branches of a tree assert facts about two subjects, and branch from one another
// anywhere. A model of cells gives the facts that each sees. It uses the assertions of the sources
// before the branch's start, and then the branch's own. The model reads the ledger alone, without
// cached state.

const PREDICATES = {
  last: { cardinality: 'single-valued', strategy: 'lww' },
  surest: { cardinality: 'single-valued', strategy: 'evi' },
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
const border = (n: number): string =>
  n === 0
    ? OPEN_START
    : n === CELLS
      ? OPEN_END
      : `2026-01-${String(n + 1).padStart(2, '0')}T00:00:00.000000Z`;
/** After all that is said. */
const LATE = '2027-01-01T00:00:00.000000Z';
const inCell = (n: number): string => `2026-01-${String(n + 1).padStart(2, '0')}T12:00:00.000000Z`;

const drawnStep = fc.record({
  /** The trajectory that asserts, or that is the source of a branch. */
  who: fc.nat(9),
  /** From which of its entries, counted from the end; undefined: something is said. */
  branchAt: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.nat(3) },
  ),
  /** By which of two processes. */
  process: fc.nat(1),
  /** How far the clock goes first. */
  micros: fc.constantFrom(0, 0, 1, 3),
  verb: fc.constantFrom('assert', 'assert', 'change', 'correct', 'retract'),
  subject: fc.constantFrom('ann', 'ann', 'ann', 'ben'),
  predicate: fc.constantFrom('last', 'last', 'last', 'surest'),
  from: fc.nat(CELLS - 1),
  length: fc.integer({ min: 1, max: CELLS }),
  object: fc.constantFrom('amoxicillin', 'penicillin', 'none'),
  confidence: fc.constantFrom(0, 0.5, 1),
});
type Step = typeof drawnStep extends fc.Arbitrary<infer T> ? T : never;

/** A trajectory as the ledger has it. */
interface Teller {
  readonly id: string;
  readonly memories: readonly Memory[];
  readonly source: Teller | undefined;
  /** Where it begins, of a branch. */
  readonly begins: string;
  readonly entries: {
    readonly id: Hash;
    readonly payload: { readonly at: string };
    readonly changed: readonly string[];
  }[];
}

/** One change of a partition. */
interface Done {
  readonly teller: Teller;
  readonly about: string;
  readonly deed: MemoryOperation;
  readonly change: BeliefChange;
}

onEveryStore((stores) => {
  test('a branch sees the facts of its sources at its start, then its own', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawnStep, { minLength: 3, maxLength: 16, size: '+1' }),
        async (steps) => {
          const place = stores.newPlace();
          const store = await place.open();
          // A writer in another process has its own handle.
          const theirs = stores.kind === 'postgres' ? await place.open() : store;
          try {
            await store.claimKey(KEY);
            await run([store, theirs], steps);
          } finally {
            for (const each of new Set([store, theirs])) await each.close();
          }
        },
      ),
      // To make a failure on a server smaller takes longer than a test may.
      {
        numRuns: cases(stores.kind === 'postgres' ? 5 : 20),
        endOnFailure: stores.kind === 'postgres',
      },
    );
  });
});

async function run(stores: readonly [Store, Store], steps: readonly Step[]): Promise<void> {
  const [store] = stores;
  const clock = new HandClock();
  const runtimes = stores.map((each) => runtimeOver(each, [believer], { ports: { clock } }));
  const memoriesOf = async (id: string): Promise<Memory[]> =>
    Promise.all(
      runtimes.map(async (runtime) =>
        (await runtime.open(id, believer)).memory({ space: SPACE, writ }),
      ),
    );
  const tellers: Teller[] = [];
  for (const id of ['a', 'b']) {
    const { head } = await runtimes[0]!.create(believer, { trajectoryId: id, writs: [writ] });
    const [row] = await store.entries(id);
    const entries = [{ id: head, payload: readRow(row!).payload, changed: [] }];
    tellers.push({ id, memories: await memoriesOf(id), source: undefined, begins: '', entries });
  }
  const done: Done[] = [];
  for (const [n, step] of steps.entries()) {
    clock.at = addMicros(clock.at, step.micros);
    const teller = tellers[step.who % tellers.length]!;
    if (step.branchAt === undefined) {
      done.push(...(await say(teller, step, `source ${n}`)));
      continue;
    }
    const entries = teller.entries.slice(0, Math.max(1, teller.entries.length - step.branchAt));
    const from = entries.at(-1)!;
    const id = `branch-${n}`;
    const branch = await runtimes[step.process]!.branch(teller.id, from.id, {
      trajectoryId: id,
      note: 'try',
      writs: [writ],
    });
    const [row] = await store.entries(id);
    const times = entries.flatMap(({ changed }) => changed);
    const begins = [
      from.payload.at,
      ...times,
      ...(teller.begins === '' ? [] : [teller.begins]),
    ].reduce(maxInstant);
    const own = [{ id: branch.head, payload: readRow(row!).payload, changed: [] }];
    tellers.push({ id, memories: await memoriesOf(id), source: teller, begins, entries: own });
  }
  for (const teller of tellers) await expectSeen(teller, done);
  expect((await verifyStore(store)).every(({ valid }) => valid)).toBe(true);
  const there = await allOf(store);
  expect(await checkMemory(store)).toMatchObject({ valid: true, differences: [] });
  await rebuildMemory(store);
  expect(await allOf(store)).toEqual(there);
  for (const runtime of runtimes) await runtime.close();
}

async function say(teller: Teller, step: Step, source: string): Promise<Done[]> {
  const { verb, subject, predicate, object, confidence, from } = step;
  const about = { subject, predicate };
  const to = verb === 'change' ? CELLS : Math.min(from + step.length, CELLS);
  const valid = { from: border(from), to: border(to) };
  const claim = claimId(KEY, { space: SPACE, ...about, object, valid, sourceEventId: source });
  const said: AssertedCells = { claim, object, confidence, from, to, token: '' };
  const input: AssertInput & { valid: { from: string; to: string } } = {
    ...about,
    object,
    confidence,
    valid,
    source,
  };
  const { valid: _, ...rest } = input;
  const memory = teller.memories[step.process]!;
  const ruling =
    verb === 'assert'
      ? memory.assert(input)
      : verb === 'change'
        ? memory.change({ ...rest, from: valid.from })
        : verb === 'correct'
          ? memory.correct(input)
          : memory.retract({ ...about, valid });
  const { id, payload } = await committed(ruling);
  const changes = payload.delta.beliefs;
  teller.entries.push({ id, payload, changed: changes.map(({ system_time }) => system_time) });
  const deed: MemoryOperation =
    verb === 'assert'
      ? { verb, batch: [said] }
      : verb === 'retract'
        ? { verb, from, to }
        : { verb, said };
  return changes.map((change) => ({ teller, about: `${subject} ${predicate}`, deed, change }));
}

async function committed(answer: Promise<Ruling>): Promise<{ id: Hash; payload: CommitPayload }> {
  const ruling = await answer;
  if (ruling.ruling !== 'committed') throw new Error(`unexpected: ${JSON.stringify(ruling)}`);
  return { id: ruling.entry.id, payload: readRow(ruling.entry).payload as CommitPayload };
}

/**
 * The changes visible to a trajectory, of the first changes of a partition. The sources' changes
 * come first, up to the trajectory's start, as of its own first change. Its own changes follow.
 */
function seenBy(teller: Teller, made: readonly Done[]): Done[] {
  if (teller.source === undefined) return made.filter((one) => one.teller.source === undefined);
  const first = made.findIndex((one) => one.teller === teller);
  const before = seenBy(teller.source, first === -1 ? made : made.slice(0, first));
  const own = made.filter((one) => one.teller === teller);
  return [...before.filter(({ change }) => change.system_time <= teller.begins), ...own];
}

/**
 * Checks each partition separately, at each of its system times, at the ends of time, and at each
 * cell. The checks use recalls and the whole history.
 */
async function expectSeen(teller: Teller, done: readonly Done[]): Promise<void> {
  const [memory] = teller.memories as [Memory, Memory];
  for (const about of new Set(done.map((one) => one.about))) {
    const [subject, predicate] = about.split(' ') as [string, keyof typeof PREDICATES];
    const changes = seenBy(
      teller,
      done.filter((one) => one.about === about),
    );
    const rules = {
      strategy: PREDICATES[predicate].strategy,
      isSingle: true,
      keeps: true,
    } as const;
    const model = new MemoryModel(rules, () => {
      throw new Error('nobody is to be asked');
    });
    const history = await memory.history({ subject, predicate, kind: 'all' });
    expect(history.map(placeOf)).toEqual(history.map(placeOf).toSorted());
    for (const [n, { deed, change }] of changes.entries()) {
      model.do(deed, change.version);
      const until = changes[n + 1]?.change.system_time;
      const systems =
        until === undefined
          ? [change.system_time, 'now', LATE]
          : [change.system_time, addMicros(until, -1)];
      for (let cell = 0; cell < CELLS; cell++) {
        const believed = model.facts.filter(({ cells }) => cells.includes(cell));
        const expected = believed.map((fact) => [
          fact.object,
          fact.confidence,
          fact.claim,
          fact.seq,
        ]);
        const losses = model.losses
          .filter((loss) => loss.cell === cell)
          .map(({ winner, loser }) => `${winner} ${loser}`);
        for (const system of systems) {
          const query = {
            subject,
            predicate,
            valid: inCell(cell),
            ...(system !== 'now' && { system }),
          };
          const { facts } = await memory.recall({ ...query, kind: 'all' });
          const [current, audit] = [
            facts.filter(isCurrent),
            facts.filter((row) => !isCurrent(row)),
          ];
          expect(current.map(shown)).toEqual(expected);
          expect(audit.map(lossOf).sort()).toEqual(losses.toSorted());
          expect((await memory.recall(query)).facts).toEqual(current);
          const at = system === 'now' ? addMicros(change.system_time, 1) : system;
          expect(history.filter((row) => holds(row, inCell(cell), at))).toEqual(facts);
        }
      }
    }
    const [begin] = changes;
    const before = begin === undefined ? {} : { system: addMicros(begin.change.system_time, -1) };
    expect(
      (await memory.recall({ subject, predicate, valid: 'any', kind: 'all', ...before })).facts,
    ).toEqual([]);
  }
  // All partitions together, in the order of a store.
  const wide = await memory.recall({ valid: 'any', kind: 'all' });
  const abouts = ['ann last', 'ann surest', 'ben last', 'ben surest'];
  const each = [];
  for (const about of abouts) {
    const [subject, predicate] = about.split(' ') as [string, string];
    each.push(...(await memory.recall({ subject, predicate, valid: 'any', kind: 'all' })).facts);
  }
  expect(wide.facts).toEqual(each);
}

const placeOf = ({ system_time_start, valid_from, fact_id }: Row): string =>
  `${system_time_start} ${valid_from} ${fact_id}`;

type Row = Omit<FactVersion, 'content'>;

const isCurrent = ({ row_kind }: Pick<Row, 'row_kind'>): boolean => row_kind === 'current';
const shown = ({ object, confidence, lineage, asserted_seq }: Row): unknown => [
  object,
  confidence,
  lineage,
  asserted_seq,
];
const lossOf = (row: Row): string => {
  const { winner, loser } = readWitness(row as never);
  return `${winner} ${loser}`;
};

function holds(row: Row, valid: string, system: string): boolean {
  const isThen = row.system_time_start <= system && system < row.system_time_end;
  return isThen && row.valid_from <= valid && valid < row.valid_to;
}

/** All that a store has, of each memory. */
async function allOf(store: Store): Promise<unknown[]> {
  const memories = [{ space: SPACE }, ...(await store.branches())];
  return Promise.all(
    memories.map(async (memory) => [
      memory,
      await store.facts({ ...memory, kind: 'all', limit: 9_999 }),
    ]),
  );
}
