import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '#base';
import type { EntryRow } from '#ledger';
import { seededRandom } from '#oracle';
import type { Assize, ProposalInput, Ruling, Trajectory } from '#runtime';
import { cases } from '../support/cases.ts';
import { allEntries, deskOf, type Fault, FaultyStore, soundState } from '../support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { isContainer, type Value } from '../support/models/json.ts';
import { type Operation, rfc6902 } from '../support/models/naive-patch.ts';

// A proposal with a precondition is refused for it exactly if a conflicting commit exists. The
// ledger has that commit after the named entry and before the proposal's own entry. The commit
// changes something at, above or below one of the paths. Several writers, in two runtimes on one
// store, run concurrently, and some appends are lost.

const desk = deskOf('footprint');
const worker = writFor('agent');
const BOXES = ['a', 'b'];

interface Deed {
  readonly who: number;
  readonly does: 'add' | 'keep' | 'put' | 'ask' | 'approve' | 'fail';
  readonly value: Json;
  readonly box: string;
  /**
   * The precondition, if any. `since`: the number of entries before the head, or the head in
   * memory.
   */
  readonly rests:
    | { readonly since: number | 'head'; readonly places: readonly string[] }
    | undefined;
}

const value: fc.Arbitrary<Json> = fc.letrec<{ any: Json }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>(0, 1, 'x'),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('any'), { maxKeys: 2, noNullPrototype: true }),
    fc.array(tie('any'), { maxLength: 2 }),
    // A value so large that its change goes into a blob.
    fc.constant<Json>({ a: { b: 'y'.repeat(17_000) } }),
  ),
})).any;

const SEEN = [
  '/n',
  '/asked',
  '/data',
  '/data/a',
  '/data/b',
  '/data/a/b',
  '/data/0',
  '/data/1/a',
  '/data/a/0',
];

const deed: fc.Arbitrary<Deed> = fc.record({
  who: fc.nat(1),
  does: fc.constantFrom('add', 'keep', 'keep', 'keep', 'put', 'ask', 'approve', 'fail'),
  value,
  box: fc.constantFrom(...BOXES),
  rests: fc.option(
    fc.record({
      since: fc.oneof(fc.nat(6), fc.constant<'head'>('head')),
      places: fc.uniqueArray(fc.constantFrom(...SEEN), { minLength: 1, maxLength: 3 }),
    }),
    { nil: undefined, freq: 3 },
  ),
});

/** Those of one list run concurrently. */
const deeds = fc.array(fc.array(deed, { minLength: 1, maxLength: 4 }), {
  minLength: 2,
  maxLength: 8,
});
const faults = fc.array(
  fc.tuple(
    fc.integer({ min: 2, max: 30 }),
    fc.constantFrom<Fault>('conflict', 'thrown, lost', 'unknown, written'),
  ),
  { maxLength: 3 },
);
const delays = fc.array(fc.nat(60), { maxLength: 5 });

interface Answer {
  readonly input: ProposalInput;
  readonly ruling: Ruling;
}

class Play {
  readonly store = new FaultyStore();
  readonly answers: Answer[] = [];
  /** Error codes, with whether the entry of the precondition was durable. */
  readonly errors: { readonly code: string; readonly isDurable: boolean }[] = [];
  #writers: Trajectory[] = [];

  /** `delays`: for how many turns of the engine each reading waits, over and over. */
  constructor(delays: readonly number[]) {
    let reads = 0;
    const delayed = async (): Promise<void> => {
      for (let left = delays[reads++ % delays.length] ?? 0; left > 0; left--) await undefined;
    };
    const { below } = this.store;
    this.store.entries = (name, options) =>
      delayed()
        .then(() => below.entries(name, options))
        .then(async (rows) => {
          await delayed();
          return rows;
        });
    this.store.resolve = (id) => delayed().then(() => below.resolve(id));
    this.store.before = delayed;
  }

  async begin(): Promise<void> {
    await this.#process('first').create(desk, { trajectoryId: 't', writs: [worker] });
    this.#writers = await Promise.all(['one', 'two'].map((name) => this.#process(name).open('t')));
  }

  #process(name: string): Assize {
    return runtimeOver(this.store, [desk], { ports: { random: seededRandom(name) } });
  }

  async atOnce(some: readonly Deed[]): Promise<void> {
    const durable = await allEntries(this.store, 't');
    await Promise.all(some.map((one) => this.#do(one, durable)));
  }

  async #do(one: Deed, durable: readonly EntryRow[]): Promise<void> {
    const writer = this.#writers[one.who] as Trajectory;
    if (one.does === 'approve') {
      const open = writer.approvals.pending()[0]?.id ?? '0'.repeat(64);
      // That it is not open any more, or was lost, is not what is looked at here.
      await writer.approvals
        .approve(open, { principal: 'dr-who', method: 'test' })
        .catch(() => undefined);
      return;
    }
    const input = inputOf(one, writer, durable);
    try {
      this.answers.push({ input, ruling: await writer.propose(input) });
    } catch (error) {
      const isDurable = durable.some(({ id }) => id === input.precondition?.since);
      this.errors.push({ code: (error as { code: string }).code, isDurable });
    }
  }
}

function inputOf(
  { does, value, box, rests }: Deed,
  writer: Trajectory,
  durable: readonly EntryRow[],
): ProposalInput {
  const args = {
    add: { by: 1 },
    keep: { value },
    put: { paper: 'p' },
    ask: { amount: 1 },
    fail: {},
    approve: {},
  }[does];
  const isFiled = does === 'put';
  const role = isFiled ? { name: 'filer', params: { box } } : 'worker';
  if (rests === undefined) return intent(does, args, worker, { role });
  const back =
    rests.since === 'head' ? undefined : durable.at(-1 - Math.min(rests.since, durable.length - 1));
  const places = isFiled ? [`/boxes/${box}`] : rests.places;
  return intent(does, args, worker, {
    role,
    precondition: { since: back?.id ?? writer.head, paths: places },
  });
}

// ── the same, by hand ──

function isAtBelowOrAbove(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/** The paths that an entry changed, and the state after it. */
interface Left {
  readonly id: string;
  readonly paths: readonly string[];
  readonly state: Value;
}

async function leftBy(store: FaultyStore, rows: readonly EntryRow[]): Promise<Left[]> {
  const left: Left[] = [];
  for (const { id, payload: text } of rows) {
    const payload = JSON.parse(text) as any;
    const recorded = payload.delta?.state ?? [];
    const patches =
      '$blob' in recorded ? JSON.parse((await store.blob(recorded.$blob)) as string) : recorded;
    const state =
      payload.kind === 'root'
        ? payload.initial_state
        : rfc6902(left.at(-1)?.state as Value, patches);
    left.push({ id, paths: patches.map(({ path }: Operation) => path), state });
  }
  return left;
}

function at(state: Value, place: string): Value | undefined {
  const inside = (here: any, key: string): any =>
    isContainer(here) && Object.hasOwn(here, key) ? (here as any)[key] : undefined;
  return place.split('/').slice(1).reduce(inside, state);
}

/** Number of occurrences of each case, to show that the property was really tested. */
const seen = { refused: 0, ruled: 0 };

test('refused exactly when the ledger says so', async () => {
  await fc.assert(
    fc.asyncProperty(deeds, faults, delays, async (steps, plan, turns) => {
      const play = new Play(turns);
      await play.begin();
      play.store.plan = new Map(plan);
      for (const some of steps) await play.atOnce(some);
      await soundState(play.store, 't');
      const rows = await allEntries(play.store, 't');
      expect(play.errors).not.toContainEqual({ code: 'not_found', isDurable: true });
      const left = await leftBy(play.store, rows);
      for (const { input, ruling } of play.answers) {
        if (ruling.ruling === 'frozen') continue;
        const isRefused = ruling.ruling === 'rejected' && ruling.reason === 'conflict';
        if (input.precondition === undefined) {
          expect(isRefused).toBe(false);
          continue;
        }
        const { since, paths } = input.precondition;
        const from = left.findIndex(({ id }) => id === since);
        expect(from).toBeGreaterThanOrEqual(0);
        const { seq } = ruling.entry;
        expect(rows[seq]).toEqual(ruling.entry);
        const met = left
          .slice(from + 1, seq)
          .flatMap(({ id, paths }) => paths.map((path) => ({ id, path })))
          .filter(({ path }) => paths.some((place) => isAtBelowOrAbove(path, place)));
        expect(isRefused).toBe(met.length > 0);
        seen[isRefused ? 'refused' : 'ruled']++;
        if (isRefused) {
          expect(ruling.detail).toBe(
            `${met[0]?.path} was changed by ${met[0]?.id}, after ${since}`,
          );
          continue;
        }
        for (const place of paths)
          expect(at(left[seq - 1]?.state as Value, place)).toEqual(
            at(left[from]?.state as Value, place),
          );
      }
    }),
    { numRuns: cases(300) },
  );
  expect(Math.min(seen.refused, seen.ruled)).toBeGreaterThan(cases(100));
});
