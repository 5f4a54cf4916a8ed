import fc from 'fast-check';
import { expect as plain, test } from 'vitest';
import { z } from 'zod';
import { addMicros, type Instant } from '#canon';
import { defineDomain } from '#kernel';
import { type CommitPayload, readRow } from '#ledger';
import {
  claimId,
  type FactRow,
  OPEN_END,
  OPEN_START,
  type PredicateDeclaration,
  readWitness,
  STRATEGIES,
} from '#memory';
import { createOracle, seededRandom } from '#oracle';
import { type AssertInput, checkMemory, type Memory, type Ruling, type Trajectory } from '#runtime';
import type { Store } from '#stores';
import { cases } from '../support/cases.ts';
import { HandClock, runtimeOver, START, writFor } from '../support/ledger/runtime.ts';
import { onEveryStore } from '../support/ledger/stores.ts';
import {
  type AssertedCells,
  CELLS,
  type Judge,
  MemoryModel,
  type MemoryOperation,
  type Rules,
} from '../support/models/memory-model.ts';
import { expect } from '../support/quick-expect.ts';
import { someOf } from '../support/some-of.ts';

// Up to twelve commits on one partition, over twelve cells of valid time. For any instant of both
// times, the answer matches a naive model of cells. Two trajectories alternate, in runtimes with
// clocks an hour apart.

const TICKS = 12;
const SPACE = 'space';
const KEY = new Uint8Array(32).fill(3);
const HOUR_MICROS = 3_600_000_000;
const CARDINALITIES = ['single-valued', 'multi-valued'] as const;
const REMAINDERS = ['keep', 'drop'] as const;

/** One predicate for each way in which a predicate can be declared. */
const PREDICATES = Object.fromEntries(
  CARDINALITIES.flatMap((cardinality) =>
    STRATEGIES.flatMap((strategy) =>
      REMAINDERS.map((remainder): [string, PredicateDeclaration] => [
        `${strategy} ${cardinality} ${remainder}`,
        { cardinality, strategy, remainder },
      ]),
    ),
  ),
);

const believer = defineDomain({
  name: 'believer',
  version: '1',
  state: z.object({}),
  initial: {},
  processes: {},
  roles: {},
  actions: {},
  invariants: [],
  counselors: { doctor: (principal) => principal === 'dr grey' },
  memory: { predicates: PREDICATES },
});

const writ = writFor('writer');
const officer = writFor('officer');
const day = (n: number): string => String(n + 1).padStart(2, '0');
const border = (n: number): Instant =>
  n === 0 ? OPEN_START : n === CELLS ? OPEN_END : `2026-01-${day(n)}T00:00:00.000000Z`;
/** The first instant of a cell that can be asked for, and the last. */
const firstOf = (n: number): Instant => (n === 0 ? '0001-01-01T00:00:00.000000Z' : border(n));
const lastOf = (n: number): Instant =>
  n === CELLS - 1 ? '9998-12-31T23:59:59.999999Z' : addMicros(border(n + 1), -1);
const cellsOf = ({ from, to }: { from: number; to: number }): number[] =>
  Array.from({ length: to - from }, (_, n) => from + n);

const span = fc
  .tuple(fc.nat(CELLS - 1), fc.integer({ min: 1, max: CELLS }))
  .map(([from, length]) => ({
    from,
    to: Math.min(from + length, CELLS),
  }));
const object = fc.constantFrom('amoxicillin', 'penicillin', 'none', 'aspirin');
const said = fc.record({ span, object, confidence: fc.constantFrom(0, 0.5, 0.9, 1) });
const drawnTick = fc.record({
  verb: fc.constantFrom(
    'assert',
    'assert',
    'assert',
    'assert',
    'change',
    'correct',
    'retract',
    'again',
  ),
  batch: fc.array(said, { minLength: 1, maxLength: 4 }),
  /** Whether what is corrected or retracted is one object, where that may be left open. */
  isNamed: fc.boolean(),
  writer: fc.nat(1),
});
type Tick = typeof drawnTick extends fc.Arbitrary<infer T> ? T : never;

const history = fc.record({
  predicate: fc.constantFrom(...Object.keys(PREDICATES)),
  ticks: fc.array(drawnTick, { minLength: 1, maxLength: TICKS }),
});

type Drawn = Tick['batch'][number];
const say = (
  from: number,
  to: number,
  object: Drawn['object'],
  confidence: Drawn['confidence'],
): Drawn => ({
  span: { from, to },
  object,
  confidence,
});
const tick = (verb: Tick['verb'], writer: number, ...batch: Tick['batch']): Tick => ({
  verb,
  batch,
  writer,
  isNamed: true,
});

/**
 * Twelve commits that contain every case. Randomness seldom draws some of them, and seldom with
 * each declaration.
 */
const EVERYTHING: readonly Tick[] = [
  tick('assert', 0, say(0, 6, 'amoxicillin', 0.9)),
  // A partial overlap.
  tick('assert', 0, say(3, 9, 'penicillin', 0.5)),
  // A late arrival, by the clock that is behind, of as much evidence: a tie.
  tick('assert', 1, say(4, 11, 'none', 0.5)),
  tick('again', 0, say(0, 1, 'none', 0)),
  // Of four together; two of them tie.
  tick(
    'assert',
    0,
    say(2, 8, 'amoxicillin', 0.9),
    say(1, 7, 'penicillin', 0.9),
    say(3, 10, 'none', 0.5),
    say(0, 12, 'aspirin', 0.5),
  ),
  { ...tick('correct', 0, say(2, 5, 'aspirin', 1), say(2, 5, 'penicillin', 1)), isNamed: false },
  // A duplicate of a current fact, and one within one batch.
  tick('assert', 1, say(2, 5, 'aspirin', 1), say(2, 5, 'aspirin', 1), say(4, 6, 'aspirin', 0.9)),
  tick('change', 0, say(8, 12, 'penicillin', 0.9)),
  tick('retract', 1, say(3, 4, 'aspirin', 0)),
  { ...tick('retract', 0, say(6, 7, 'none', 0)), isNamed: false },
  tick('assert', 1, say(0, 12, 'amoxicillin', 0)),
  // Where that was recorded: not everywhere.
  tick('correct', 1, say(5, 9, 'none', 1), say(5, 9, 'amoxicillin', 1)),
];

/** A judge with a vote that depends on the candidates, and on nothing else. */
const judge: Judge = (claims) => {
  const sum = [...claims.join()].reduce((total, char) => total + char.charCodeAt(0), 0);
  return claims[sum % claims.length]!;
};

/** The facts and losses at one system time, at each cell. */
interface Picture {
  readonly at: Instant;
  readonly facts: MemoryModel['facts'];
  readonly losses: MemoryModel['losses'];
  /** All that the store showed then. */
  readonly seen: string;
}

onEveryStore((stores) => {
  /** Answers with how many commits have changed what is believed. */
  const livesAsTheModel = async (predicate: string, ticks: readonly Tick[]): Promise<number> => {
    const store = await stores.newPlace().open({ durability: 'off' });
    try {
      await store.claimKey(KEY);
      const world = await worldOver(store, predicate);
      const pictures = await lived(world, ticks);
      await expectPictures(world, pictures);
      expect(await checkMemory(store)).toMatchObject({ valid: true });
      await expectErased(world, pictures);
      expect(await checkMemory(store)).toMatchObject({ valid: true });
      return pictures.length;
    } finally {
      await store.close();
    }
  };

  test.each(someOf(Object.keys(PREDICATES), (name) => PREDICATES[name]!.strategy))(
    'a history with everything in it is as a model of cells has it: %s',
    async (predicate) => {
      expect(await livesAsTheModel(predicate, EVERYTHING)).toBeGreaterThan(8);
    },
  );

  test('with `drop`, the part of a fact that a person chose is lost alone', async () => {
    const ticks = [
      say(0, 1, 'amoxicillin', 0),
      say(0, 1, 'amoxicillin', 0),
      say(0, 5, 'none', 0),
    ].map((said) => tick('assert', 0, said));
    const again = tick('assert', 0, say(0, 1, 'amoxicillin', 0));
    expect(await livesAsTheModel('await single-valued drop', [...ticks, again])).toBe(4);
  });

  test('each instant of both times matches a model of cells, until an erasure', async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ predicate, ticks }) => {
        await livesAsTheModel(predicate, ticks);
      }),
      // To make a failure on a server smaller takes longer than a test may.
      {
        numRuns: cases(stores.kind === 'postgres' ? 4 : 20),
        endOnFailure: stores.kind === 'postgres',
      },
    );
  });
});

/** Two trajectories that believe something under one predicate. */
interface World {
  readonly predicate: string;
  readonly rules: Rules;
  readonly trajectories: readonly Trajectory[];
  readonly memories: readonly Memory[];
  /** Those of both. */
  readonly forward: () => void;
}

async function worldOver(store: Store, predicate: string): Promise<World> {
  const { cardinality, strategy, remainder } = PREDICATES[predicate]!;
  const clocks = [new HandClock(), new HandClock()];
  clocks[1]!.at = addMicros(START, -HOUR_MICROS);
  const trajectories = await Promise.all(
    clocks.map(async (clock, n) => {
      const choose = ({ members }: { members: readonly { claim: string }[] }): string =>
        judge(members.map(({ claim }) => claim));
      const oracle = createOracle({ store, clock, mode: 'record' });
      // Separate salts: an erasure in one trajectory must not erase the values of the other.
      const random = seededRandom(`t${n}`);
      const runtime = runtimeOver(store, [believer], {
        ports: { clock, random },
        memory: { judge: { oracle, choose } },
      });
      return (await runtime.create(believer, {
        trajectoryId: `t${n}`,
        writs: [writ, officer],
      })) as Trajectory;
    }),
  );
  return {
    predicate,
    rules: {
      strategy,
      isSingle: cardinality === 'single-valued',
      keeps: remainder === 'keep',
      trusts: true,
    },
    trajectories,
    memories: trajectories.map((trajectory) => trajectory.memory({ space: SPACE, writ })),
    forward: () => {
      for (const clock of clocks) clock.forward(1_000);
    },
  };
}

/** Does what was drawn, one after the other, and holds the laws after each. */
async function lived(world: World, ticks: readonly Tick[]): Promise<Picture[]> {
  const { rules, memories, forward } = world;
  const model = new MemoryModel(rules, judge);
  const pictures: Picture[] = [];
  const asserted: AssertInput[] = [];
  for (const [n, tick] of ticks.entries()) {
    forward();
    const memory = memories[tick.writer]!;
    const before = await openRows(world);
    const { deed, payload } = await done(world, tick, n, asserted);
    const [change] = payload.delta.beliefs;
    const open = await openRows(world);
    if (deed === undefined || change === undefined) expect(open).toEqual(before);
    if (deed !== undefined) {
      expectLaws(world, deed, before, open);
      model.do(deed, change?.version ?? pictures.length + 1);
    }
    if (change === undefined) continue;
    expect(change.version).toBe(pictures.length + 1);
    expect(pictures.every(({ at }) => at < change.system_time)).toBe(true);
    const { facts, losses } = model;
    const seen = await seenAt(memory, world, change.system_time);
    pictures.push({ at: change.system_time, facts, losses, seen: JSON.stringify(seen) });
  }
  return pictures;
}

/**
 * Runs the drawn statement, as the predicate allows it. Returns no `deed` for a repeated assertion.
 */
async function done(
  world: World,
  { verb, batch, isNamed, writer }: Tick,
  n: number,
  asserted: AssertInput[],
): Promise<{ deed?: MemoryOperation; payload: CommitPayload }> {
  const { predicate, rules, trajectories, memories } = world;
  const about = { subject: 'ann', predicate };
  const memory = memories[writer]!;
  const does = (ruling: Promise<Ruling>): Promise<CommitPayload> =>
    committed(trajectories[writer]!, ruling);
  const openEnd = verb === 'change' && rules.isSingle;
  const all = batch.map(
    ({ span: { from, to }, object, confidence }, i): [AssertedCells, AssertInput] => {
      const end = openEnd ? CELLS : to;
      const valid = { from: border(from), to: border(end) };
      const source = `${n}-${i}`;
      const claim = claimId(KEY, { space: SPACE, ...about, object, valid, sourceEventId: source });
      return [
        { claim, object, confidence, from, to: end, token: claim },
        { ...about, object, confidence, valid, source },
      ];
    },
  );
  const [first, { valid, ...rest }] = all[0] as [
    AssertedCells,
    AssertInput & { valid: { from: Instant; to: Instant } },
  ];
  if (verb === 'again' && asserted.length > 0)
    return { payload: await does(memory.assert(asserted[n % asserted.length]!)) };
  if (openEnd)
    return {
      deed: { verb: 'change', said: first },
      payload: await does(memory.change({ ...rest, from: valid.from })),
    };
  if (verb === 'correct') {
    const was = rules.isSingle && !isNamed ? {} : { was: all.at(-1)![0].object };
    return {
      deed: { verb, said: first, ...was },
      payload: await does(memory.correct({ ...rest, valid, ...was })),
    };
  }
  if (verb === 'retract') {
    const named = isNamed ? { object: first.object } : {};
    return {
      deed: { verb, from: first.from, to: first.to, ...named },
      payload: await does(memory.retract({ ...about, valid, ...named })),
    };
  }
  const payload = await does(memory.assertMany(all.map(([, one]) => one)));
  asserted.push(...all.map(([, one]) => one));
  return { deed: { verb: 'assert', batch: all.map(([one]) => one) }, payload };
}

/** If the ruling escalates, the judge of the model chooses as the approver. */
async function committed(trajectory: Trajectory, ruling: Promise<Ruling>): Promise<CommitPayload> {
  let answer = await ruling;
  if (answer.ruling === 'escalated') {
    const questions = await trajectory.approvals.questionsOf(answer.pending);
    const answers = questions.map(({ request, members }) => ({
      request,
      winner: judge(members.map(({ claim }) => claim).sort()),
    }));
    answer = await trajectory.approvals.approve(answer.pending, {
      principal: 'dr grey',
      method: 'test',
      answers,
    });
  }
  if (answer.ruling !== 'committed') throw new Error(`unexpected: ${JSON.stringify(answer)}`);
  return readRow(answer.entry).payload as CommitPayload;
}

async function openRows({ memories, predicate }: World): Promise<readonly FactRow[]> {
  return (await memories[0]!.recall({ subject: 'ann', predicate, valid: 'any' })).facts;
}

/**
 * A statement covers no cell beyond its own and the earlier ones, and no covered cell is lost. For
 * a single-valued predicate, no two facts hold at one time.
 */
function expectLaws(
  { rules }: World,
  deed: MemoryOperation,
  before: readonly FactRow[],
  after: readonly FactRow[],
): void {
  const covered = (rows: readonly FactRow[]): number[] =>
    Array.from({ length: CELLS }, (_, n) => n).filter((n) =>
      rows.some(({ valid_from, valid_to }) => valid_from <= border(n) && border(n) < valid_to),
    );
  for (const row of after)
    for (const other of after)
      if (row !== other && (rules.isSingle || row.object === other.object))
        expect(row.valid_from >= other.valid_to || other.valid_from >= row.valid_to).toBe(true);
  if (deed.verb === 'retract') {
    const taken = (n: number): boolean => deed.from <= n && n < deed.to;
    if (deed.object === undefined)
      expect(covered(after)).toEqual(covered(before).filter((n) => !taken(n)));
    for (const row of after)
      if (deed.object === undefined || row.object === deed.object)
        expect(row.valid_to <= border(deed.from) || border(deed.to) <= row.valid_from).toBe(true);
    return;
  }
  // The replacement of one object covers the cells of that object.
  const replaces = deed.verb === 'correct' && deed.was !== undefined;
  const batch = replaces ? [] : deed.verb === 'assert' ? deed.batch : [deed.said];
  const union = [...new Set([...covered(before), ...batch.flatMap(cellsOf)])].sort((a, b) => a - b);
  const isDropping = deed.verb === 'assert' && !rules.keeps && rules.isSingle;
  expect(covered(after).filter((n) => union.includes(n))).toEqual(covered(after));
  if (!isDropping) expect(covered(after)).toEqual(union);
}

/**
 * The visible facts of a system time, without its end: rows of both kinds, at the first instant of
 * each cell.
 */
async function seenAt(memory: Memory, { predicate }: World, system: Instant): Promise<FactRow[][]> {
  const cells: FactRow[][] = [];
  for (let cell = 0; cell < CELLS; cell++) {
    const { facts } = await memory.recall({
      subject: 'ann',
      predicate,
      kind: 'all',
      valid: firstOf(cell),
      system,
    });
    cells.push(facts.map((row) => ({ ...row, system_time_end: OPEN_END })));
  }
  return cells;
}

async function expectPictures(world: World, pictures: readonly Picture[]): Promise<void> {
  const { predicate, memories } = world;
  const about = { subject: 'ann', predicate };
  const [memory, other] = memories as [Memory, Memory];
  if (pictures.length === 0) return;
  const before = addMicros(pictures[0]!.at, -1);
  expect(
    (await memory.recall({ ...about, valid: 'any', system: before, kind: 'all' })).facts,
  ).toEqual([]);
  for (const [n, { at, facts, losses, seen }] of pictures.entries()) {
    expect(JSON.stringify(await seenAt(memory, world, at))).toBe(seen);
    // It is the same until the next one.
    const until =
      pictures[n + 1] === undefined
        ? addMicros(at, HOUR_MICROS)
        : addMicros(pictures[n + 1]!.at, -1);
    for (let cell = 0; cell < CELLS; cell++)
      for (const [i, valid] of [firstOf(cell), lastOf(cell)].entries()) {
        const point = { ...about, valid, system: i === 0 ? at : until };
        const believed = facts.filter(({ cells }) => cells.includes(cell));
        const expected = believed.map((fact) => [
          fact.object,
          fact.confidence,
          fact.claim,
          fact.seq,
        ]);
        const found = (await other.recall(point)).facts.map(shown);
        expect(found.length).toBe(expected.length);
        expect(new Set(found)).toEqual(new Set(expected));
        const lost = (await memory.recall({ ...point, kind: 'audit' })).facts.map(lossOf);
        const losing = losses.filter((loss) => loss.cell === cell);
        expect(lost.sort()).toEqual(
          losing
            .map(({ winner, loser, objects }) => JSON.stringify([winner, loser, objects]))
            .sort(),
        );
      }
  }
}

const shown = ({ object, confidence, lineage, asserted_seq }: FactRow): unknown => [
  object,
  confidence,
  lineage,
  asserted_seq,
];

function lossOf(row: FactRow): string {
  const { winner, loser, members } = readWitness(row);
  return JSON.stringify([winner, loser, members.map(({ object }) => object).sort()]);
}

/**
 * An erased claim loses its texts, in the facts of any time, and nothing else changes at any time.
 */
async function expectErased(world: World, pictures: readonly Picture[]): Promise<void> {
  const { predicate, trajectories, memories } = world;
  const about = { subject: 'ann', predicate };
  const [row] = await memories[0]!.history(about);
  if (row === undefined) return;
  const claim = row.lineage;
  for (const trajectory of trajectories) {
    const erasing = trajectory.erase({
      beliefs: [{ space: SPACE, ...about, claim }],
      reason: 'asked for',
      writ: officer,
    });
    await erasing.catch((error: { code: string }) => expect(error.code).toBe('nothing_to_erase'));
  }
  for (const { at, seen } of pictures) {
    const before = JSON.parse(seen) as FactRow[][];
    expect(await seenAt(memories[0]!, world, at)).toEqual(
      before.map((rows) =>
        rows.map((each) =>
          names(each, claim)
            ? { ...each, object: plain.stringMatching(/^\{"\$erased":"[0-9a-f]{64}"\}$/) }
            : each,
        ),
      ),
    );
  }
}

function names(row: FactRow, claim: string): boolean {
  if (row.row_kind === 'current') return row.lineage === claim;
  return readWitness(row).members.some((member) =>
    member.rows.some(({ lineage }) => lineage === claim),
  );
}
