import { faultAt, faultyStore } from '@assize/testing/internal';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize, keyedHash, parseStrict } from '#canon';
import { StoreError } from '#stores';
import { collected } from '../../../../tests/support/server/collected.ts';
import { SealedRows } from './sealed-rows.ts';

const SECRET = new Uint8Array(32).fill(1);
const KEY = 'a';

interface Value {
  readonly n: number;
  readonly text: string;
}

const value = fc.record({ n: fc.integer(), text: fc.string({ unit: 'grapheme', maxLength: 20 }) });
/** Texts that are JSON for every reader. */
function isStrict(text: string): boolean {
  try {
    parseStrict(text);
    return true;
  } catch {
    return false;
  }
}

const key = fc.stringMatching(/^[a-z0-9]{1,8}$/);

test('a written row is read back until it is deleted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(key, value, { maxKeys: 8 }), async (written) => {
      const rows = new SealedRows<Value>(new MemoryStore(), 'k', SECRET);
      for (const [name, one] of Object.entries(written))
        expect(await rows.put(name, null, one)).toBe(true);
      for (const [name, one] of Object.entries(written))
        expect((await rows.get(name))?.value).toEqual(one);
      const listed = Object.fromEntries(
        (await collected(rows.list())).map((row) => [row.key, row.value]),
      );
      expect(listed).toEqual({ ...written });
      for (const name of Object.keys(written)) expect(await rows.delete(name)).toBe(true);
      expect(await collected(rows.list())).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

test('a row of any other content, kind, key or secret counts as absent', async () => {
  await fc.assert(
    fc.asyncProperty(value, fc.json().filter(isStrict), key, async (written, text, other) => {
      const store = new MemoryStore();
      const rows = new SealedRows<Value>(store, 'k', SECRET);
      await rows.put(KEY, null, written);
      const { body } = (await store.sideGet('k', KEY)) as { body: string };
      const { mac } = JSON.parse(body) as { mac: string };
      const forged: Json[] = [
        ...[JSON.parse(text) as Json, { mac, value: JSON.parse(text) as Json }],
        { mac, value: { ...written, n: written.n + 1 } },
        ...[
          { mac: mac.slice(1), value: { ...written } },
          { mac: `${mac}0`, value: { ...written } },
          { value: { ...written } },
        ],
        {
          mac: keyedHash(new Uint8Array(32), canonicalize(['k', KEY, { ...written }])),
          value: { ...written },
        },
        {
          mac: keyedHash(SECRET, canonicalize(['k', 'another', { ...written }])),
          value: { ...written },
        },
      ];
      for (const [n, one] of forged.entries()) {
        const bytes = canonicalize(one);
        if (bytes === body) continue;
        await store.sidePut([{ kind: 'k', key: `forged-${n}`, expected: null, body: bytes }]);
        expect(await rows.get(`forged-${n}`)).toBeUndefined();
      }
      // The row itself under another name, another kind or another key of a server.
      const place = `${other}-moved`;
      await store.sidePut([{ kind: 'k', key: place, expected: null, body }]);
      await store.sidePut([{ kind: 'other', key: KEY, expected: null, body }]);
      expect(await rows.get(place)).toBeUndefined();
      expect(await new SealedRows(store, 'other', SECRET).get(KEY)).toBeUndefined();
      expect(await new SealedRows(store, 'k', new Uint8Array(32)).get(KEY)).toBeUndefined();
      expect((await collected(rows.list())).map((row) => row.key)).toEqual([KEY]);
    }),
    { numRuns: 30 },
  );
});

test('of puts that expect one version, one wins', async () => {
  const rows = new SealedRows<Value>(new MemoryStore(), 'k', SECRET);
  const first = await Promise.all(
    Array.from({ length: 10 }, (_, n) => rows.put(KEY, null, { n, text: '' })),
  );
  expect(first.filter(Boolean)).toHaveLength(1);
  const { version } = (await rows.get(KEY)) as { version: number };
  const next = await Promise.all(
    Array.from({ length: 10 }, (_, n) => rows.put(KEY, version, { n, text: 'x' })),
  );
  expect(next.filter(Boolean)).toHaveLength(1);
});

test('of racing deletions, one deletes; a forged row can be deleted', async () => {
  const store = new MemoryStore();
  const rows = new SealedRows<Value>(store, 'k', SECRET);
  await rows.put(KEY, null, { n: 1, text: '' });
  const deleted = await Promise.all(Array.from({ length: 10 }, () => rows.delete(KEY)));
  expect(deleted.filter(Boolean)).toHaveLength(1);
  await store.sidePut([{ kind: 'k', key: KEY, expected: null, body: '{}' }]);
  expect(await rows.delete(KEY)).toBe(true);
});

test('a list of more than a page has each row once', async () => {
  const store = new MemoryStore();
  const rows = new SealedRows<Value>(store, 'k', SECRET);
  const names = Array.from({ length: 1_001 }, (_, n) => `${n}`.padStart(5, '0'));
  for (const name of names) await rows.put(name, null, { n: 0, text: name });
  expect((await collected(rows.list())).map((row) => row.key)).toEqual(names);
  expect((await collected(rows.list('00998'))).map((row) => row.key)).toEqual(['00999', '01000']);
});

test('an old row that was put back counts: the limit of a MAC', async () => {
  const store = new MemoryStore();
  const rows = new SealedRows<Value>(store, 'k', SECRET);
  await rows.put(KEY, null, { n: 1, text: '' });
  const { body } = (await store.sideGet('k', KEY)) as { body: string };
  await rows.delete(KEY);
  await store.sidePut([{ kind: 'k', key: KEY, expected: null, body }]);
  expect((await rows.get(KEY))?.value).toEqual({ n: 1, text: '' });
});

test('a fault of the store is an error, and never an absent row', async () => {
  const store = new MemoryStore();
  await new SealedRows<Value>(store, 'k', SECRET).put(KEY, null, { n: 1, text: '' });
  for (const kind of ['fails', 'lost', 'reply_lost'] as const) {
    const rows = new SealedRows<Value>(faultyStore(store, faultAt(1, { kind })), 'k', SECRET);
    await expect(rows.get(KEY)).rejects.toBeInstanceOf(StoreError);
    expect((await rows.get(KEY))?.value.n).toBe(1);
  }
});
