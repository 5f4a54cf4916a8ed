import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addMicros, type Instant, maxInstant } from '#canon';
import { type CommitPayload, type Hash, readRow } from '#ledger';
import { OPEN_END } from '#memory';
import { type Assize, checkMemory, type Memory, verifyStore } from '#runtime';
import { openStore, type Store } from '#stores';
import { cases } from '../support/cases.ts';
import { clinic } from '../support/clinic/clinic.ts';
import { HandClock, runtimeOver, START, writFor } from '../support/ledger/runtime.ts';

// Processes with different clocks assert facts in trajectories and in branches of branches. The
// visible facts match a model that knows only times and positions. The ledger is valid for any
// clocks.

const writ = writFor('nurse');
const SUBJECTS = ['p1', 'p2'] as const;
type Subject = (typeof SUBJECTS)[number];
/** How far a change may be ahead of where a branch begins for all to be seen up to it. */
const NEAR_MICROS = 1_000_000;
/** The clock that is far ahead. */
const FAR = 2;
/** After all that is said. */
const LATE: Instant = '2027-01-01T00:00:00.000000Z';

/** A trajectory asserts a fact, and then may be branched from. */
const drawnStep = fc.record({
  /** Counted from the latest. */
  who: fc.constantFrom(0, 0, 0, 1, 2, 3, 4),
  /** How far all clocks go first. */
  ms: fc.constantFrom(0, 1, 1_000, 7_200_000, 7_200_000),
  subject: fc.constantFrom<Subject[]>('p1', 'p1', 'p1', 'p1', 'p2'),
  /**
   * Whether the step retracts the current facts of the subject. Otherwise, the step asserts another
   * fact.
   */
  isRetracted: fc.constantFrom(true, false, false, false),
  /** From which of its entries, counted from the end, and by which clock the branch goes. */
  branch: fc.option(fc.record({ back: fc.constantFrom(0, 0, 0, 0, 1), clock: fc.nat(2) }), {
    nil: undefined,
    freq: 2,
  }),
});
type Step = typeof drawnStep extends fc.Arbitrary<infer T> ? T : never;

const drawnClocks = fc.record({
  near: fc.constantFrom(1, 900, 1_500),
  far: fc.constantFrom(5_000, 3_600_000, 3_600_000),
});

/**
 * The current facts of a subject in one memory: those before its first change, and those after each
 * change since.
 */
interface Partition {
  readonly first: readonly string[];
  readonly changes: { readonly time: Instant; readonly objects: readonly string[] }[];
}

/** A trajectory, and the model's knowledge of it. */
interface Teller {
  readonly id: string;
  readonly clock: number;
  /**
   * Set for a branch only: its source, and the number of the source's entries that it starts with.
   */
  readonly begins: { readonly source: Teller; readonly entries: number } | undefined;
  readonly entries: {
    readonly id: Hash;
    readonly at: Instant;
    readonly change?: { readonly subject: Subject; readonly time: Instant };
  }[];
  /** Of its memory; trajectories that are not branches share one. */
  readonly partitions: Map<Subject, Partition>;
}

test('for any clocks, a branch sees its source’s earlier changes and is valid', async () => {
  await fc.assert(
    fc.asyncProperty(
      drawnClocks,
      fc.array(drawnStep, { minLength: 4, maxLength: 10, size: '+1' }),
      run,
    ),
    { numRuns: cases(150) },
  );
});

async function run(
  { near, far }: { near: number; far: number },
  steps: readonly Step[],
): Promise<void> {
  const store = await openStore('memory:');
  const clocks = [0, near, far].map((ms) => {
    const clock = new HandClock();
    clock.forward(ms);
    return clock;
  });
  const runtimes = clocks.map((clock) => runtimeOver(store, [clinic], { ports: { clock } }));
  const shared = new Map<Subject, Partition>();
  const tellers: Teller[] = [];
  for (const [clock, runtime] of runtimes.entries()) {
    const { id, head } = await runtime.create(clinic, { trajectoryId: `t${clock}`, writs: [writ] });
    tellers.push({
      id,
      clock,
      begins: undefined,
      entries: [await entryOf(store, head)],
      partitions: shared,
    });
  }
  for (const [n, step] of steps.entries()) {
    for (const clock of clocks) clock.forward(step.ms);
    const teller = tellers.at(-1 - (step.who % tellers.length))!;
    await say(runtimes[teller.clock]!, teller, step, `said ${n}`);
    if (step.branch !== undefined)
      tellers.push(await begun(store, runtimes, teller, step.branch, `b${n}`));
  }
  for (const teller of tellers)
    await expectSeen(await memoryOf(runtimes[teller.clock]!, teller), teller);
  for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
  expect(await checkMemory(store)).toMatchObject({ valid: true, differences: [] });
  for (const runtime of runtimes) await runtime.close();
  await store.close();
}

/**
 * A branch of a source with the far-ahead clock uses that clock. By another clock it could assert
 * nothing.
 */
async function begun(
  store: Store,
  runtimes: readonly Assize[],
  source: Teller,
  { back, clock: drawn }: NonNullable<Step['branch']>,
  id: string,
): Promise<Teller> {
  const clock = source.clock === FAR ? FAR : drawn;
  const entries = Math.max(1, source.entries.length - back);
  const { head } = await runtimes[clock]!.branch(source.id, source.entries[entries - 1]!.id, {
    trajectoryId: id,
    note: 'what if',
    writs: [writ],
  });
  const begins = { source, entries };
  return { id, clock, begins, entries: [await entryOf(store, head)], partitions: new Map() };
}

async function say(runtime: Assize, teller: Teller, step: Step, object: string): Promise<void> {
  const { subject, isRetracted } = step;
  const memory = await memoryOf(runtime, teller);
  const about = { subject, predicate: 'drug' };
  const ruling = isRetracted
    ? await memory.retract({ ...about, valid: { from: START, to: OPEN_END } })
    : await memory.change({ ...about, object, from: START });
  if (ruling.ruling !== 'committed') throw new Error(`unexpected: ${JSON.stringify(ruling)}`);
  const { at, delta } = readRow(ruling.entry).payload as CommitPayload;
  const time = delta.beliefs[0]?.system_time;
  if (time !== undefined) {
    const partition = teller.partitions.get(subject) ?? {
      first: seenBy(teller, subject),
      changes: [],
    };
    partition.changes.push({ time, objects: isRetracted ? [] : [object] });
    teller.partitions.set(subject, partition);
  }
  teller.entries.push({
    id: ruling.entry.id,
    at,
    ...(time !== undefined && { change: { subject, time } }),
  });
}

/** The facts of a subject that a trajectory sees, up to a time in its own memory. */
function seenBy(
  { partitions, begins }: Teller,
  subject: Subject,
  until: Instant = LATE,
): readonly string[] {
  const own = partitions.get(subject);
  if (own !== undefined)
    return own.changes.findLast(({ time }) => time <= until)?.objects ?? own.first;
  return begins === undefined ? [] : seenBy(begins.source, subject, untilOf(begins, subject));
}

/**
 * The time up to which a branch sees its source's facts of a subject. It is the latest of several
 * times. One is the time of the entry that the branch starts from. The others are the source's
 * changes of the subject by then, near changes of any subject, and the source's own limit.
 */
function untilOf({ source, entries }: NonNullable<Teller['begins']>, subject: Subject): Instant {
  const passed = source.entries.slice(0, entries);
  const { at } = passed.at(-1)!;
  const times = passed.flatMap(({ change }) =>
    change !== undefined &&
    (change.subject === subject || change.time <= addMicros(at, NEAR_MICROS))
      ? [change.time]
      : [],
  );
  return [
    ...times,
    ...(source.begins === undefined ? [] : [untilOf(source.begins, subject)]),
  ].reduce(maxInstant, at);
}

/** One partition by itself, and all together. */
async function expectSeen(memory: Memory, teller: Teller): Promise<void> {
  const shown = async (query: object): Promise<string[]> =>
    (await memory.recall({ valid: 'any', ...query })).facts.map(
      ({ subject, object }) => `${subject} ${object}`,
    );
  const all = SUBJECTS.map((subject) =>
    seenBy(teller, subject).map((object) => `${subject} ${object}`),
  );
  for (const [n, subject] of SUBJECTS.entries())
    expect([teller.id, await shown({ subject, predicate: 'drug' })]).toEqual([teller.id, all[n]]);
  expect([teller.id, await shown({})]).toEqual([teller.id, all.flat()]);
}

async function memoryOf(runtime: Assize, { id }: Teller): Promise<Memory> {
  return (await runtime.open(id, clinic)).memory({ space: 'ward', writ });
}

async function entryOf(store: Store, id: Hash): Promise<Teller['entries'][number]> {
  return { id, at: readRow((await store.resolve(id))!).payload.at };
}
