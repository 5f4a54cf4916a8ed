import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type Domain, defineDomain, sensitive } from '#kernel';
import { MemoryStore } from '#stores';
import { intent, runtimeOver, writFor } from '../../../../tests/support/runtime.ts';
import { other, threaded } from '../../../../tests/support/threaded-domain.ts';
import { threadsOf } from '../../../../tests/support/threads.ts';
import {
  type Assize,
  type AssizeOptions,
  type ParallelOptions,
  type ProposalInput,
  type Ruling,
  RuntimeError,
  type Trajectory,
} from '../../index.ts';

const MODULE = new URL('../../../../tests/support/threaded-domain.ts', import.meta.url);
const writ = writFor('agent');

function runtime(options: Partial<ParallelOptions> = {}, rest: Partial<AssizeOptions> = {}): Assize {
  const parallel = { workers: 2, module: MODULE, export: 'threaded', ...options };
  return runtimeOver(new MemoryStore(), [threaded], { parallel, ...rest });
}

const fill = (box: string, by: number, badly = 'no'): ProposalInput =>
  intent('fill', { by, badly }, writ, { role: { name: 'filler', params: { box } } });
const where = (box: string): ProposalInput => intent('where', {}, writ, { role: { name: 'filler', params: { box } } });

const all = (trajectory: Trajectory, inputs: readonly ProposalInput[]): Promise<Ruling[]> =>
  Promise.all(inputs.map((input) => trajectory.propose(input)));

const boxes = (trajectory: Trajectory): unknown => (trajectory.state() as { boxes: unknown }).boxes;

test('what is proposed at once is judged in other threads, in the order of arrival; what is alone is not', async () => {
  const assize = runtime();
  const trajectory = await assize.create(threaded, { trajectoryId: 't' });
  const rulings = await all(trajectory, ['a', 'b', 'c', 'd', 'e'].map(where));
  expect(rulings.map((ruling) => 'entry' in ruling && ruling.entry.seq)).toEqual([1, 2, 3, 4, 5]);
  expect(boxes(trajectory)).toEqual({ a: 2, b: 2, c: 2, d: 2, e: 2 });
  await trajectory.propose(where('a'));
  expect(boxes(trajectory)).toMatchObject({ a: 1 });
  // What meets another before it is judged here.
  await all(trajectory, [where('b'), where('c'), where('b')]);
  expect(boxes(trajectory)).toMatchObject({ b: 1, c: 2 });
  await assize.close();
});

test('replicas go on with what is committed', async () => {
  const assize = runtime();
  const trajectory = await assize.create(threaded, { trajectoryId: 't' });
  for (let i = 0; i < 300; i++) await trajectory.propose(fill('a', i % 2 === 0 ? 1 : -1));
  await all(trajectory, [fill('a', 9), fill('b', 3), fill('c', 12)]);
  const rulings = await all(trajectory, [fill('a', 1), fill('b', 4), intent('total', {}, writ, { role: 'clerk' })]);
  expect(rulings.map(({ ruling }) => ruling)).toEqual(['rejected', 'committed', 'committed']);
  expect(trajectory.state()).toEqual({ boxes: { a: 9, b: 7 }, total: 16 });
  await assize.close();
});

test.each([
  ['dies', 10_000, /it ended/],
  // Longer than a thread that is well takes on a busy machine.
  ['hangs', 2_000, /did not answer within 2000 ms/],
])('a thread that %s loses nothing, is told once, and the others go on', async (badly, patienceMs, why) => {
  const told: RuntimeError[] = [];
  const assize = runtime({ patienceMs, onWorkerFailed: (error) => told.push(error) });
  const trajectory = await assize.create(threaded, { trajectoryId: 't' });
  // Each thread is asked for one of them.
  const rulings = await all(trajectory, [fill('a', 1, badly), fill('b', 2)]);
  expect(rulings.map(({ ruling }) => ruling)).toEqual(['committed', 'committed']);
  expect(told).toMatchObject([{ code: 'worker_failed', message: expect.stringMatching(why), evidence: { left: 1 } }]);
  await all(trajectory, ['c', 'd'].map(where));
  expect(boxes(trajectory)).toEqual({ a: 1, b: 2, c: 2, d: 2 });
  await all(trajectory, [fill('a', 1, badly), fill('b', 2)]);
  await all(trajectory, ['c', 'd'].map(where));
  expect(boxes(trajectory)).toEqual({ a: 2, b: 4, c: 1, d: 1 });
  expect(told).toMatchObject([{}, { evidence: { left: 0 } }]);
  await assize.close();
});

test('who is told that a thread is gone may fail: that is told, and what hangs is ended all the same', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const ends: string[] = [];
  const threads = threadsOf(threaded, ['hangs', 'dies']);
  const begin: NonNullable<ParallelOptions['begin']> = (task) => {
    const thread = (threads.begin as typeof begin)(task);
    const end = (): Promise<void> => {
      ends.push('ended');
      return thread.end();
    };
    return { ...thread, end };
  };
  const onWorkerFailed = (): void => {
    throw new Error('not now');
  };
  const assize = runtimeOver(new MemoryStore(), [threaded], { parallel: { ...threads, begin, onWorkerFailed } });
  const trajectory = await assize.create(threaded, { trajectoryId: 't' });
  const rulings = await all(trajectory, [fill('a', 1), fill('b', 2)]);
  expect(rulings.map(({ ruling }) => ruling)).toEqual(['committed', 'committed']);
  expect(ends).toEqual(['ended']);
  expect(warn.mock.calls.map(([error]) => (error as Error).message)).toEqual(['not now', 'not now']);
  warn.mockRestore();
  await assize.close();
});

test('a value that is as deep as one may be is committed as it is without threads', async () => {
  const nest = (depth: number): unknown => (depth === 0 ? 0 : [nest(depth - 1)]);
  const deep = defineDomain({
    name: 'deep',
    version: '1',
    state: z.object({ rows: z.record(z.string(), sensitive(z.unknown())) }),
    initial: { rows: {} },
    processes: { filling: { writes: ['/rows/{row}'] } },
    roles: { filler: { params: ['row'], processes: ['filling'] } },
    actions: {
      nest: {
        process: 'filling',
        args: z.object({ depth: z.number() }),
        apply: (state, { depth }, { role }) => {
          state.rows[role['row'] as string] = nest(depth);
        },
      },
    },
    invariants: () => [],
  }) as Domain;
  const told = await Promise.all(
    [undefined, threadsOf(deep, [0])].map(async (parallel) => {
      const options = parallel === undefined ? {} : { parallel };
      const trajectory = await runtimeOver(new MemoryStore(), [deep], options).create(deep, { trajectoryId: 't' });
      const inputs = [1, 62, 63, 64, 65, 1].map((depth, i) =>
        intent('nest', { depth }, writ, { role: { name: 'filler', params: { row: `r${i}` } } }),
      );
      const rulings = await Promise.allSettled(inputs.map((input) => trajectory.propose(input)));
      return rulings.map((one) => (one.status === 'fulfilled' ? one.value.ruling : one.reason.code));
    }),
  );
  expect(told[1]).toEqual(told[0]);
  expect(told[0]?.slice(0, 3)).toEqual(['committed', 'committed', 'committed']);
});

test('a runtime that was closed ends its threads, and judges without', async () => {
  const told: RuntimeError[] = [];
  const assize = runtime({ onWorkerFailed: (error) => told.push(error) });
  const trajectory = await assize.create(threaded, { trajectoryId: 't' });
  const underWay = all(trajectory, ['a', 'b'].map(where));
  await assize.close();
  expect((await underWay).map(({ ruling }) => ruling)).toEqual(['committed', 'committed']);
  await all(trajectory, ['a', 'b'].map(where));
  expect(boxes(trajectory)).toEqual({ a: 1, b: 1 });
  expect(told).toEqual([]);
});

test('a trajectory that is let go of, and opened again, begins anew', async () => {
  const assize = runtime();
  const before = await assize.create(threaded, { trajectoryId: 't' });
  await all(before, [fill('a', 9), fill('b', 9)]);
  assize.release('t');
  const after = await assize.open('t');
  expect((await all(after, [fill('a', 1), fill('b', -1)])).map(({ ruling }) => ruling)).toEqual([
    'rejected',
    'committed',
  ]);
  await assize.close();
});

test.each<[string, Partial<ParallelOptions>, object]>([
  [
    'no such export',
    { export: 'nothing' },
    { code: 'bad_option', message: expect.stringContaining('exports no domain nothing') },
  ],
  [
    'no such module',
    { module: new URL('./nowhere.ts', import.meta.url) },
    { code: 'bad_option', message: expect.stringContaining("can't be imported") },
  ],
  [
    'another domain',
    { export: 'other' },
    { code: 'domain_mismatch', evidence: { domain: { name: 'threaded', version: '2', hash: other.hash } } },
  ],
])('%s: nothing is begun or opened', async (_, options, error) => {
  const store = new MemoryStore();
  const parallel = { workers: 2, module: MODULE, export: 'threaded', ...options };
  const assize = runtimeOver(store, [threaded], { parallel });
  for (let i = 0; i < 2; i++) await expect(assize.create(threaded, { trajectoryId: 't' })).rejects.toMatchObject(error);
  expect(await store.trajectories()).toEqual([]);
  await runtimeOver(store, [threaded]).create(threaded, { trajectoryId: 't' });
  await expect(assize.open('t')).rejects.toMatchObject(error);
  await assize.close();
});

test.each<[string, Partial<Record<keyof ParallelOptions, unknown>>]>([
  ['no workers', { workers: 0 }],
  ['half a worker', { workers: 1.5 }],
  ['too many', { workers: 65 }],
  ['a path', { module: '/domain.ts' }],
  ['no export', { export: '' }],
  ['no patience', { patienceMs: 0 }],
])('options that can’t be: %s', (_, options) => {
  const make = (): Assize => runtime(options as Partial<ParallelOptions>);
  expect(make).toThrow(RuntimeError);
  expect(make).toThrow(expect.objectContaining({ code: 'bad_option' }));
});
