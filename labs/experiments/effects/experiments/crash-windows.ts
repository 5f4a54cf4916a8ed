import { EffectError, type Sink, type Tool } from 'assize/internal/effects';
import { openStore } from 'assize/internal/stores';
import { type Cell, partOf, type Table, yieldToEventLoop } from '../../tables/index.ts';
import { killed, type ProcessOptions } from '../crash/kill.ts';
import { isOfUndoing, POINTS, type Point } from '../crash/points.ts';
import { CrashRemains, type Killing } from '../crash/remains.ts';
import { type ReportPoint, Shop, toolsOf } from '../crash/shop.ts';
import type { Sinks } from '../crash/sinks.ts';
import { STEPS, type Step, Stepping } from '../crash/steps.ts';
import { type CrashStore, postgresPlace, sqlitePlace } from '../crash/stores.ts';
import type { Experiment, Running } from '../experiment.ts';
import { scaled } from '../measure.ts';
import { openScratch } from '../scratch.ts';

const SINKS: readonly Sink[] = ['keyed', 'queryable', 'blind'];
/** Concurrent processes. */
const AT_ONCE = 3;
/** Of all steps of all recoveries, at so many a second process is killed. */
const TWICE = 50;

export const crashWindows: Experiment = {
  name: 'crash-windows',
  about:
    'processes that are killed at each point of a transaction, and again while it is recovered',
  uses: ['scale'],
  run: (running) => tablesOf(running, 'a SQLite file', sqlitePlace),
};

export const crashWindowsPostgres: Experiment = {
  name: 'crash-windows-postgres',
  about: 'the same over a PostgreSQL server',
  needs: 'postgres',
  uses: ['scale', 'postgres'],
  run: (running) => tablesOf(running, 'a PostgreSQL server', postgresPlace(running.postgres ?? '')),
};

/** Where a process is killed, and where the one that recovers from that. */
interface Window extends Killing {
  readonly again?: Step;
}

/** The result of its order. */
interface Outcome extends Window {
  /** Effects that were done more than once. */
  readonly twice: number;
  /**
   * For a committed order: effects that are neither present nor unresolved. For any other order:
   * effects that are present and not unresolved.
   */
  readonly lost: number;
  readonly left: number;
  /** A new order was refused. */
  readonly blocked: number;
  /** The steps of the last process during its recovery. It survived. */
  readonly steps: readonly Step[];
}

async function tablesOf(
  running: Running,
  where: string,
  newPlace: () => Promise<CrashStore>,
): Promise<Table[]> {
  await using cache = await openScratch();
  // Remains that several recoveries use are produced once.
  await using kept = new AsyncDisposableStack();
  const remains = new Map<string, CrashRemains>();
  const outcomeOf = async (window: Window, { signal }: Running): Promise<Outcome> => {
    const beginning = { signal, compiled: cache.path };
    const name = `${window.point}, ${window.sink}`;
    const known = remains.get(name);
    await using left =
      (await known?.copy()) ?? (await CrashRemains.of(window, newPlace, beginning));
    const copy = known === undefined ? await left.copy() : undefined;
    if (copy !== undefined) remains.set(name, kept.use(copy));
    return await recoveredFrom(left, window, beginning);
  };
  const outcomesOf = (part: Running, of: readonly Window[]): Promise<Outcome[]> =>
    inTurns(part, of, (window) => outcomeOf(window, part));
  const windows = someOf(
    POINTS.flatMap((point) => SINKS.map((sink): Window => ({ point, sink }))),
    1,
    running,
  );
  const once = await outcomesOf(partOf(running, 0, 2), windows);
  const steps = once
    .flatMap(({ point, sink, steps: all }) =>
      all.map((again): Window & { again: Step } => ({ point, sink, again })),
    )
    // So that those that are left out are of all sorts alike.
    .sort((a, b) => STEPS.indexOf(a.again.kind) - STEPS.indexOf(b.again.kind));
  const again = await outcomesOf(
    partOf(running, 1, 2),
    someOf(steps, Math.min(1, TWICE / steps.length), running),
  );
  const shared = {
    source: 'Crash windows (§3.3)',
    columns: ['twice', 'lost', 'blocked', ...SINKS.map((sink) => `left, ${sink}`)],
  };
  return [
    {
      ...shared,
      title: `orders of a process that was killed over ${where}, when another one has recovered them`,
      keys: ['killed'],
      rows: POINTS.map((point) => ({
        keys: [point],
        cells: cellsOf(once.filter((each) => each.point === point)),
      })),
      notes: [
        `${once.length} processes, killed with SIGKILL, at most one for each point and sort of sink. An order reserves something immediately, and sends a letter after the commit. Another process recovers, places an order that nobody had asked for before, and then the same one again, where it is to stay.`,
        'Read off the sinks: they live on. Twice: done more than once, less what was undone. Lost: committed, and neither there nor left to a person; or not committed, and there and not left. Blocked: what nobody had asked for before was refused. Left: what waits for a person, by the sort of sink; a blind one can’t say what became of a call.',
      ],
      plot: { sort: 'bar', x: 'killed', y: 'effects' },
    },
    {
      ...shared,
      title: `orders whose recovery was killed too, over ${where}, when a third process has recovered them`,
      keys: ['the second one killed'],
      rows: STEPS.map((kind) => ({
        keys: [kind],
        cells: cellsOf(again.filter((each) => each.again?.kind === kind)),
      })),
      notes: [
        `${again.length} of the ${steps.length} steps of the recoveries above, of each sort as large a part: with a larger scale it is all of them. All else is as above.`,
      ],
      plot: { sort: 'bar', x: 'the second one killed', y: 'effects' },
    },
  ];
}

async function inTurns(
  running: Running,
  windows: readonly Window[],
  kill: (window: Window) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let from = 0; from < windows.length; from += AT_ONCE) {
    await yieldToEventLoop(running);
    for (const ended of await Promise.allSettled(windows.slice(from, from + AT_ONCE).map(kill))) {
      if (ended.status === 'rejected') throw ended.reason;
      outcomes.push(ended.value);
    }
    running.progress(outcomes.length, windows.length);
  }
  return outcomes;
}

/** That part of them, or as many as there is time for, from all over. */
function someOf(windows: readonly Window[], part: number, running: Running): readonly Window[] {
  const wanted = Math.min(windows.length, scaled(part * windows.length, running));
  const before = (i: number): number => Math.floor((i * wanted) / windows.length);
  return windows.filter((_, i) => before(i + 1) > before(i));
}

function cellsOf(outcomes: readonly Outcome[]): Cell[] {
  const sumOf = (of: readonly Outcome[], what: 'twice' | 'lost' | 'blocked' | 'left'): Cell => ({
    measured: of.length === 0 ? NONE : of.reduce((sum, each) => sum + each[what], 0),
  });
  return [
    sumOf(outcomes, 'twice'),
    sumOf(outcomes, 'lost'),
    sumOf(outcomes, 'blocked'),
    ...SINKS.map((sink) =>
      sumOf(
        outcomes.filter((each) => each.sink === sink),
        'left',
      ),
    ),
  ];
}

/** In a cell for which nothing was done. */
const NONE = '–';

export interface KillingOptions extends ProcessOptions {
  readonly newPlace?: () => Promise<CrashStore>;
  /** The tools of the surviving recovery process. */
  readonly tools?: typeof toolsOf;
}

/**
 * Kills a process in the window, and perhaps the next process. Then inspects the sinks after
 * another process has recovered with these tools.
 */
export async function killedIn(
  window: Window,
  { newPlace = sqlitePlace, ...options }: KillingOptions,
): Promise<Outcome> {
  await using remains = await CrashRemains.of(window, () => newPlace(), options);
  return await recoveredFrom(remains, window, options);
}

async function recoveredFrom(
  { place: { url }, sinks }: CrashRemains,
  window: Window,
  { tools = toolsOf, ...beginning }: Omit<KillingOptions, 'newPlace'>,
): Promise<Outcome> {
  const { point, sink, again } = window;
  const port = await sinks.listen();
  try {
    if (again !== undefined) {
      let calls = 0;
      const isByTheSink = again.kind === 'while the sink does that';
      const isAtSink = (): boolean => ++calls === again.nth && isByTheSink;
      await killed('recoverer', { url, port, sink, step: again }, { sinks, isAtSink }, beginning);
    }
    return { ...window, ...(await recovered(url, sinks, (at) => tools(port, sink, at), point)) };
  } finally {
    await sinks.close();
  }
}

async function recovered(
  url: string,
  sinks: Sinks,
  toolsWith: (at: ReportPoint) => readonly Tool[],
  point: Point,
): Promise<Omit<Outcome, keyof Window>> {
  const told: Step[] = [];
  const stepping = new Stepping((step) => told.push(step));
  const shop = new Shop(stepping.over(await openStore(url)), toolsWith(stepping.at));
  try {
    const left = await shop.assize.recoverEffects();
    const steps = [...told];
    const blocked = (await placed(shop, 'another')) === 'committed' ? 0 : 1;
    // The caller asks for its order again, by name. The runtime refuses it if an effect of the
    // order is unresolved.
    if (!isOfUndoing(point)) await placed(shop, 'order');
    let [twice, lost] = [0, 0];
    for (const order of ['order', 'another']) {
      const committed = await shop.committed(order);
      for (const tool of ['reserve', 'send'] as const) {
        const there = sinks.times('do', tool, order) - sinks.times('undo', tool, order);
        const isLeft = order === 'order' && left.some((each) => each.tool === `shop.${tool}`);
        if (there > 1) twice++;
        if (!isLeft && Math.min(there, 1) !== committed) lost++;
      }
    }
    return { twice, lost, left: left.length, blocked, steps };
  } finally {
    await shop.close();
  }
}

async function placed(shop: Shop, order: string): Promise<string> {
  try {
    return await shop.place(order);
  } catch (error) {
    if (error instanceof EffectError && error.code === 'resource_in_doubt') return error.code;
    throw error;
  }
}
