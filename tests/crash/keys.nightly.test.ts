import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import type { EntryRow, LedgerStore } from '#ledger';
import { openStore } from '#stores';
import { bundled } from '../support/bundled.ts';
import { cases } from '../support/cases.ts';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { withPostgres } from '../support/postgres/index.ts';
import { tally } from '../support/tools/effect-sink.ts';

// Processes that run the same orders, concurrently or in sequence, and some of them are killed.
// Each effect has one key, and no effect is left out. The test reads the effects from the file that
// all processes write to.

/** `ASSIZE_KEYS=1000000` for a long night. */
const KEYS = cases(Number(process.env['ASSIZE_KEYS'] ?? '100000'));
const EFFECTS = 200;
const ORDERS = KEYS / EFFECTS;

const program = await bundled(join(import.meta.dirname, 'keys-process.ts'));

interface Working {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  /** When so many orders were answered, or it has ended. */
  readonly answered: (count: number) => Promise<void>;
}

function work(url: string, path: string, seed: number): Working {
  const args = [program, url, path, seed, ORDERS, EFFECTS].map(String);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const lines = createInterface({ input: child.stdout! });
  let count = 0;
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  lines.on('line', (ruling) => {
    expect(ruling).toBe('committed');
    count++;
    for (const each of waiting) if (each.count <= count) each.resolve();
  });
  const answered = async (at: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ count: at, resolve });
    await Promise.race([promise, exited]);
  };
  return { child, exited, answered };
}

async function begin(url: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'sink');
  writeFileSync(path, '');
  const store = await openStore(url);
  await runtimeOver(store, [tally]).create(tally, { trajectoryId: 't' });
  await store.close();
  return path;
}

/** One key for each effect, one effect for each key; and so in the ledger and the effect log. */
async function check(url: string, path: string): Promise<void> {
  const whats = new Map<string, string>();
  const keys = new Map<string, string>();
  let repeated = 0;
  for (const line of readFileSync(path, 'utf8').trimEnd().split('\n')) {
    const [key, what] = line.split(' ') as [string, string];
    if (whats.has(key)) repeated++;
    if ((whats.get(key) ?? what) !== what || (keys.get(what) ?? key) !== key)
      throw new Error(`${line} has two sides`);
    whats.set(key, what);
    keys.set(what, key);
  }
  expect([whats.size, keys.size]).toEqual([KEYS, KEYS]);
  const store = await openStore(url);
  const ordered: string[] = [];
  for await (const { payload } of entriesOf(store)) {
    const { action } = JSON.parse(payload) as { action?: { name: string; args: string } };
    if (action?.name === 'count') ordered.push(action.args);
  }
  expect(new Set(ordered).size).toBe(ORDERS);
  expect(ordered).toHaveLength(ORDERS);
  expect(await store.openEffects()).toEqual([]);
  for (const key of [...whats.keys()].filter((_, i) => i % 997 === 0))
    expect(await store.effectKey(key)).toBeDefined();
  await store.close();
  // A sink that knows keys passes those over.
  console.info(`${KEYS} keys, ${repeated} sent again after a crash`);
  expect(repeated).toBeLessThan(KEYS / 10);
}

async function* entriesOf(store: LedgerStore): AsyncIterable<EntryRow> {
  for (let from = 0; ; ) {
    const page = await store.entries('t', { from });
    if (page.length === 0) return;
    yield* page;
    from += page.length;
  }
}

test('sqlite: each effect of killed processes has one key, and none is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const url = `sqlite:${join(folder, 'store.db')}`;
  const path = await begin(url);
  for (const [round, share] of [0.2, 0.3, 0.1].entries()) {
    const { child, exited, answered } = work(url, path, round);
    await answered(ORDERS * share);
    child.kill('SIGKILL');
    await exited;
  }
  expect(await work(url, path, 99).exited).toBe(0);
  await check(url, path);
});

withPostgres('postgres', (postgres) => {
  test('each effect of eight processes has one key, and none is left out', async () => {
    const url = postgres.url();
    const path = await begin(url);
    const working = Array.from({ length: 8 }, (_, seed) => work(url, path, seed));
    for (const { child, answered } of working.slice(0, 3))
      void answered(ORDERS / 5).then(() => child.kill('SIGKILL'));
    const codes = await Promise.all(working.map(({ exited }) => exited));
    expect(codes.slice(3)).toEqual([0, 0, 0, 0, 0]);
    expect(await work(url, path, 99).exited).toBe(0);
    await check(url, path);
  });
});
