import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openStore } from '#stores';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';

// Several processes run tool transactions on one SQLite file, and none is closed meanwhile.

const PROCESS = fileURLToPath(new URL('two-holders-process.ts', import.meta.url));
let url = '';
let sink = '';

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-holders-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  url = `sqlite:${join(folder, 'store.db')}`;
  sink = join(folder, 'sink');
  const store = await openStore(url);
  const assize = runtimeOver(store, [tally]);
  for (const trajectoryId of ['a', 'b']) await assize.create(tally, { trajectoryId });
  await store.close();
});

/** A process that has run its orders and stays open. */
async function started(name: string, orders: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROCESS, url, sink, name, `${orders}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let settled = 0;
  for await (const line of createInterface(child.stdout!)) {
    expect(line).toBe('settled');
    if (++settled === orders) break;
  }
  expect(settled).toBe(orders);
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  child.stdin!.end();
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
}

async function unfinished(): Promise<number> {
  const store = await openStore(url);
  const open = await store.openEffects();
  await store.close();
  return open.length;
}

test('a second process works while the first is open and idle', async () => {
  const first = await started('a', 1);
  const second = await started('b', 1);
  await ended(second);
  await ended(first);
  expect(readFileSync(sink, 'utf8')).toBe('a 0\nb 0\n');
  expect(await unfinished()).toBe(0);
});

test('two processes that both work finish, whatever order they end in', async () => {
  const [first, second] = await Promise.all([started('a', 12), started('b', 12)]);
  await ended(first!);
  await ended(second!);
  const lines = readFileSync(sink, 'utf8').trimEnd().split('\n');
  expect(lines.toSorted()).toEqual(
    ['a', 'b'].flatMap((name) => Array.from({ length: 12 }, (_, n) => `${name} ${n}`)).toSorted(),
  );
  expect(await unfinished()).toBe(0);
});
