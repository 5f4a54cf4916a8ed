import { MemoryStore } from '@assize/testing/memory';
import type { SideStore } from 'assize/internal/ledger';
import { expect, test } from 'vitest';
import { gracedReads } from './graced-reads.ts';

const GRACE_MS = 100;

async function graced() {
  const store = new MemoryStore();
  let now = 0;
  let fails: 'no' | 'throws' | 'hangs' = 'no';
  const failing: SideStore = {
    sideGet: (kind, key) => {
      if (fails === 'throws') return Promise.reject(new Error('gone'));
      return fails === 'hangs' ? new Promise(() => undefined) : store.sideGet(kind, key);
    },
    sideList: (kind, page) => store.sideList(kind, page),
    sidePut: (changes) => store.sidePut(changes),
  };
  let isSilent = false;
  const requireHeard = (): void => {
    if (isSilent) throw new Error('silent');
  };
  const side = gracedReads(failing, { graceMs: GRACE_MS, requireHeard, nowMs: () => now });
  await side.sidePut([{ kind: 'token', key: 'a', expected: null, body: '1' }]);
  const body = async (key = 'a') => (await side.sideGet('token', key))?.body;
  return {
    ...{ store, side, body },
    pass: (ms: number) => (now += ms),
    fail: (how: typeof fails) => {
      fails = how;
    },
    fallSilent: () => {
      isSilent = true;
    },
  };
}

test.each(['throws', 'hangs'] as const)(
  'a row counts for its time while the store %s',
  async (how) => {
    const { body, pass, fail } = await graced();
    expect(await body()).toBe('1');
    fail(how);
    pass(GRACE_MS);
    expect(await body()).toBe('1');
    if (how === 'hangs') return;
    pass(1);
    await expect(body()).rejects.toThrow('gone');
    await expect(body('never read')).rejects.toThrow('gone');
  },
);

test('a row that the store answers counts immediately, also an absent one', async () => {
  const { store, side, body, fail } = await graced();
  await body();
  const row = (await store.sideGet('token', 'a'))!;
  await store.sidePut([{ kind: 'token', key: 'a', expected: row.version, body: '2' }]);
  expect(await body()).toBe('2');
  const changed = (await store.sideGet('token', 'a'))!;
  await side.sidePut([{ kind: 'token', key: 'a', expected: changed.version, body: null }]);
  fail('throws');
  await expect(body()).rejects.toThrow('gone');
});

test.each(['throws', 'hangs'] as const)('a silent store ends a read: it %s', async (how) => {
  const { body, fail, fallSilent } = await graced();
  fail(how);
  const reading = body();
  fallSilent();
  await expect(reading).rejects.toThrow('silent');
});
