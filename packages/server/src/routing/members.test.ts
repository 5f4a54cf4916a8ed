import { MemoryStore } from '@assize/testing/memory';
import { canonicalize, generateKeys, instantFromMillis } from 'assize/internal/canon';
import { seededRandom } from 'assize/internal/oracle';
import { SealedRows, sideSecretOf } from 'assize/internal/stores';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LIVE_MS, Members, RENEW_MS } from './members.ts';

const ROOT = generateKeys(new Uint8Array(32).fill(1));
const KIND = 'server/member';

beforeEach(() => void vi.useFakeTimers({ now: 1_800_000_000_000 }));
afterEach(() => void vi.useRealTimers());

const store = (): MemoryStore => new MemoryStore();

/** `aheadMs`: of the clock of the server. */
function member(side: MemoryStore, name: string, { root = ROOT, aheadMs = 0 } = {}): Members {
  const failed = (error: unknown): void => {
    throw error;
  };
  return new Members({
    ...{ side, root, url: `http://${name}`, random: seededRandom(name), onFailure: failed },
    clock: { now: () => instantFromMillis(Date.now() + aheadMs) },
    nowMs: () => Date.now(),
  });
}

const urls = (members: Members): string[] =>
  members
    .reachable()
    .map(({ url }) => url)
    .toSorted();

test('servers of a store find each other, and a stopped one is gone', async () => {
  const side = store();
  const [a, b, c] = [member(side, 'a'), member(side, 'b'), member(side, 'c', { aheadMs: 60_000 })];
  for (const each of [a, b, c]) await each.start();
  await vi.advanceTimersByTimeAsync(RENEW_MS);
  expect([a, b, c].map(urls)).toEqual([
    ['http://b', 'http://c'],
    ['http://a', 'http://c'],
    ['http://a', 'http://b'],
  ]);
  const gone = a.reachable().find(({ id }) => id === b.id)!.gone;
  await b.stop();
  await vi.advanceTimersByTimeAsync(RENEW_MS);
  expect(urls(a)).toEqual(['http://c']);
  expect(gone.aborted).toBe(true);
  await vi.advanceTimersByTimeAsync(10 * LIVE_MS);
  expect(urls(a)).toEqual(['http://c']);
});

test('a server that died is gone after a while, and its row later', async () => {
  const side = store();
  const [a, b] = [member(side, 'a'), member(side, 'b')];
  for (const each of [a, b]) await each.start();
  await vi.advanceTimersByTimeAsync(RENEW_MS);
  const [row] = (await side.sideList(KIND, { limit: 10 })).filter(({ key }) => key === b.id);
  await b.stop();
  await side.sidePut([{ kind: KIND, key: b.id, expected: null, body: row!.body }]);
  await vi.advanceTimersByTimeAsync(RENEW_MS);
  expect(urls(a)).toEqual(['http://b']);
  await vi.advanceTimersByTimeAsync(LIVE_MS + RENEW_MS);
  expect(urls(a)).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect((await side.sideList(KIND, { limit: 10 })).map(({ key }) => key)).toEqual([a.id]);
  await a.stop();
});

test('a server that does not answer is avoided, for longer each time', async () => {
  const side = store();
  const [a, b] = [member(side, 'a'), member(side, 'b')];
  for (const each of [a, b]) await each.start();
  await vi.advanceTimersByTimeAsync(RENEW_MS);
  const avoided: number[] = [];
  for (let failure = 0; failure < 8; failure++) {
    a.answered(b.id, false);
    let ms = 0;
    for (; a.reachable().length === 0; ms += 100) await vi.advanceTimersByTimeAsync(100);
    avoided.push(ms);
  }
  expect(avoided).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  a.answered(b.id, false);
  a.answered(b.id, true);
  expect(urls(a)).toEqual(['http://b']);
  await Promise.all([a.stop(), b.stop()]);
});

test('a row of another key, an old row and the own address do not count', async () => {
  const side = store();
  const a = member(side, 'a');
  await a.start();
  const forged = { mac: '0'.repeat(64), value: { at: Date.now(), url: 'http://thief' } };
  await side.sidePut([{ kind: KIND, key: 'f', expected: null, body: canonicalize(forged) }]);
  const foreign = member(side, 'foreign', { root: generateKeys(new Uint8Array(32).fill(2)) });
  await foreign.start();
  // A row of a server that ended, put back; and a server with the address of this one.
  const rows = new SealedRows(side, KIND, sideSecretOf(ROOT));
  await rows.put('old', null, { at: Date.now() - 601_000, url: 'http://old' });
  await rows.put('same', null, { at: Date.now(), url: 'http://a' });
  await vi.advanceTimersByTimeAsync(RENEW_MS);
  expect(urls(a)).toEqual([]);
  await vi.advanceTimersByTimeAsync(70_000);
  expect((await side.sideList(KIND, { limit: 10 })).map(({ key }) => key)).not.toContain('old');
  await Promise.all([a.stop(), foreign.stop()]);
});

test('a server whose row was deleted announces itself again', async () => {
  const side = store();
  const [a, b] = [member(side, 'a'), member(side, 'b')];
  for (const each of [a, b]) await each.start();
  const [row] = (await side.sideList(KIND, { limit: 10 })).filter(({ key }) => key === b.id);
  await side.sidePut([{ kind: KIND, key: b.id, expected: row!.version, body: null }]);
  await vi.advanceTimersByTimeAsync(3 * RENEW_MS);
  expect(urls(a)).toEqual(['http://b']);
  await Promise.all([a.stop(), b.stop()]);
});

test('a server that could not read for long counts the others as live', async () => {
  const side = store();
  const [a, b] = [member(side, 'a'), member(side, 'b')];
  for (const each of [a, b]) await each.start();
  await vi.advanceTimersByTimeAsync(RENEW_MS);
  const { gone } = a.reachable()[0]!;
  // The process was suspended: its clock goes on, and no timer ran.
  vi.setSystemTime(Date.now() + 10 * LIVE_MS);
  await vi.advanceTimersByTimeAsync(2 * RENEW_MS);
  expect(gone.aborted).toBe(false);
  expect(urls(a)).toEqual(['http://b']);
  await Promise.all([a.stop(), b.stop()]);
});
