import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EntryRow } from '#ledger';
import { MemoryStore } from '#stores';
import { batchOf, chainOf, entryAfter, faultyStore } from '#testing';
import { LogTail } from './log-tail.ts';

let store: MemoryStore;
let tails: LogTail[];

beforeEach(() => {
  store = new MemoryStore();
  tails = [];
});

afterEach(async () => {
  for (const tail of tails) await tail.stop();
});

type Rows = ReturnType<typeof chainOf>;

async function append(rows: Rows): Promise<void> {
  for (const row of rows) expect((await store.commit(batchOf(row))).status).toBe('committed');
}

async function follow(
  over = store,
  failures: unknown[] = [],
  from = 0,
): Promise<{ tail: LogTail; seen: number[]; leave: () => void }> {
  const tail = new LogTail(over, { pollMs: 5, onFailure: (error) => failures.push(error) });
  tails.push(tail);
  await tail.start();
  const seen: number[] = [];
  const leave = tail.listen((entries) => seen.push(...entries.map(({ position }) => position)), from);
  return { tail, seen, leave };
}

/** Tails poll every few milliseconds. */
const IN_TIME = { timeout: 20_000 };

test('a listener gets each entry from its position on, once, in order', async () => {
  const rows = chainOf('t', 30);
  await append(rows.slice(0, 5));
  const { seen } = await follow(store, [], 3);
  await append(rows.slice(5));
  await expect.poll(() => seen.at(-1), IN_TIME).toBe(29);
  expect(seen).toEqual(Array.from({ length: 27 }, (_, n) => 3 + n));
});

test('a later listener gets the entries before the others, from its position', async () => {
  await append(chainOf('t', 20));
  const { tail, seen } = await follow(store, [], 15);
  await expect.poll(() => seen.at(-1), IN_TIME).toBe(19);
  const late: number[] = [];
  tail.listen((entries) => late.push(...entries.map(({ position }) => position)), 2);
  await expect.poll(() => late.at(-1), IN_TIME).toBe(19);
  expect(late).toEqual(Array.from({ length: 18 }, (_, n) => 2 + n));
});

test('a listener that comes during a read gets every entry from its position', async () => {
  await append(chainOf('t', 10));
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const slow = new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (name !== 'logged') return typeof member === 'function' ? member.bind(target) : member;
      return async (from: number, limit: number) => {
        begun.resolve();
        await gate.promise;
        return target.logged(from, limit);
      };
    },
  });
  const { tail, seen } = await follow(slow, [], 8);
  await begun.promise;
  const late: number[] = [];
  tail.listen((entries) => late.push(...entries.map(({ position }) => position)), 2);
  gate.resolve();
  await expect.poll(() => seen.at(-1), IN_TIME).toBe(9);
  await expect.poll(() => late.at(-1), IN_TIME).toBe(9);
  expect(late).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
});

test('failed reads are told, and the next read misses nothing', async () => {
  const rows = chainOf('t', 40);
  const failures: unknown[] = [];
  let calls = 0;
  const faulty = faultyStore(store, ({ operation }) => {
    if (!['logged', 'integrate', 'logSize'].includes(operation)) return undefined;
    calls += 1;
    return calls < 4 || calls % 7 === 0 ? { kind: 'fails' } : undefined;
  });
  const { seen } = await follow(faulty, failures);
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const row of rows) await append([row]);
  await expect.poll(() => seen.at(-1), IN_TIME).toBe(39);
  expect(seen).toEqual(rows.map((_, n) => n));
  expect(failures.length).toBeGreaterThan(0);
});

test('without listeners nothing is read, and a stopped tail reads no more', async () => {
  let reads = 0;
  const counting = faultyStore(store, ({ operation }) => {
    if (operation === 'logged') reads += 1;
    return undefined;
  });
  const { tail, seen, leave } = await follow(counting);
  expect(tail.listeners).toBe(1);
  leave();
  leave();
  expect(tail.listeners).toBe(0);
  const [first] = chainOf('t', 1);
  await append([first as EntryRow]);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect({ reads, seen }).toEqual({ reads: 0, seen: [] });
  tail.listen(() => undefined, 0);
  await tail.stop();
  const before = reads;
  await append([entryAfter(first, 't')]);
  tail.wake();
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(reads).toBe(before);
});

test('a page begins at any position', async () => {
  await append(chainOf('t', 7));
  const { tail } = await follow();
  await tail.size();
  expect((await tail.read(3)).map(({ position }) => position)).toEqual([3, 4, 5, 6]);
  expect(await tail.read(7)).toEqual([]);
});
