import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EffectError, type Sink } from 'assize/effects';
import { openStore } from 'assize/stores';
import { breath, type Cell, type Table } from 'assize/tables';
import { AT_SINK, isOfUndoing, type Life, POINTS, type Point } from '../crash/points.ts';
import { Shop, toolsOf } from '../crash/shop.ts';
import { Sinks } from '../crash/sinks.ts';
import type { Experiment, Running } from '../experiment.ts';
import { scaled } from '../measure.ts';

const SINKS: readonly Sink[] = ['keyed', 'queryable', 'blind'];
/** Processes that are there at once. */
const AT_ONCE = 3;

export const crashWindows: Experiment = {
  name: 'crash-windows',
  about: 'processes that are killed at each point of a transaction, and recovered by another one',
  uses: ['scale'],
  run: async (running) => [await tableOf(running)],
};

/** Where a process is killed. */
interface Window {
  readonly point: Point;
  readonly sink: Sink;
}

/** What came of its order. */
interface Outcome extends Window {
  /** Effects that were done more than once. */
  readonly twice: number;
  /** Of an order that was committed, effects that are neither there nor left to a person; of another, those that are there so. */
  readonly lost: number;
  readonly left: number;
  /** An order that nobody had asked for before was refused. */
  readonly blocked: number;
}

async function tableOf(running: Running): Promise<Table> {
  const windows = someOf(
    POINTS.flatMap((point) => SINKS.map((sink) => ({ point, sink }))),
    running,
  );
  const outcomes: Outcome[] = [];
  for (let from = 0; from < windows.length; from += AT_ONCE) {
    await breath(running);
    const some = windows.slice(from, from + AT_ONCE).map((window) => killedOnce(window, running.signal));
    for (const ended of await Promise.allSettled(some)) {
      if (ended.status === 'rejected') throw ended.reason;
      outcomes.push(ended.value);
    }
    running.progress(outcomes.length, windows.length);
  }
  return {
    source: 'Crash windows',
    title: 'orders of a process that was killed, when another one has recovered them',
    keys: ['killed'],
    columns: ['twice', 'lost', 'blocked', ...SINKS.map((sink) => `left, ${sink}`)],
    rows: POINTS.map((point) => ({ keys: [point], cells: cellsOf(outcomes.filter((each) => each.point === point)) })),
    notes: [
      `${outcomes.length} processes, killed with SIGKILL over a SQLite file, at most one for each point and sort of sink. An order reserves something at once, and sends a letter after the commit. Another process recovers, places an order that nobody had asked for before, and then the same one again, where it is to stay.`,
      'Read off the sinks, which live on. Twice: done more than once, less what was undone. Lost: committed, and neither there nor left to a person; or not committed, and there and not left. Blocked: what nobody had asked for before was refused. Left: what waits for a person, by the sort of sink; a blind one can’t say what became of a call.',
    ],
  };
}

/** So many as there is time for, from all over. */
function someOf(windows: readonly Window[], running: Running): readonly Window[] {
  const wanted = Math.min(windows.length, scaled(windows.length, running));
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

/** Kills a process there, and looks what its sinks have when another one has recovered with these tools. */
export async function killedOnce(window: Window, signal: AbortSignal, tools = toolsOf): Promise<Outcome> {
  const { point, sink } = window;
  const folder = await mkdtemp(join(tmpdir(), 'assize-crash-windows-'));
  const sinks = new Sinks(sink);
  const port = await sinks.listen();
  try {
    const url = `sqlite:${join(folder, 'store.db')}`;
    await Shop.create(url);
    await killed({ url, port, sink, point }, sinks, signal);
    return { ...window, ...(await recovered(url, sinks, tools(port, sink), point)) };
  } finally {
    await sinks.close();
    await rm(folder, { recursive: true });
  }
}

/** A process of its own, to its death. */
async function killed(life: Life, sinks: Sinks, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [victimFile(), JSON.stringify(life)], { stdio: ['ignore', 'ignore', 'pipe'] });
  const at = AT_SINK[life.point];
  sinks.silentTo(({ did, tool }) => did === at?.did && tool === at.tool && child.kill('SIGKILL'));
  const stop = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  try {
    const [code, by] = (await once(child, 'close')) as [number | null, string | null];
    signal.throwIfAborted();
    if (by !== 'SIGKILL') throw new Error(`The process ended with ${code} and was not killed: ${said}`);
  } finally {
    signal.removeEventListener('abort', stop);
    sinks.silentTo(() => false);
  }
}

async function recovered(
  url: string,
  sinks: Sinks,
  tools: ReturnType<typeof toolsOf>,
  point: Point,
): Promise<Omit<Outcome, keyof Window>> {
  const shop = new Shop(await openStore(url), tools);
  try {
    const left = await shop.assize.recoverEffects();
    const blocked = (await placed(shop, 'another')) === 'committed' ? 0 : 1;
    // Whoever asked for it asks again, by its name; where something of it is left, that is refused.
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
    return { twice, lost, left: left.length, blocked };
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

/** The program beside: a source in the repository, JavaScript in the package. */
function victimFile(): string {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  return fileURLToPath(new URL(`../crash/victim${extension}`, import.meta.url));
}
