import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize, hashText, WORLD_LIMITS } from '#canon';
import { cases } from '../../../../../tests/support/cases.ts';
import {
  branchMembers,
  ChainWriter,
  RowsReader,
  rootMembers,
} from '../../../../../tests/support/ledger/rows.ts';
import { jsonValue } from '../../../../../tests/support/models/json.ts';
import {
  type BlobRef,
  type BlobRow,
  blobOf,
  type Entry,
  INLINE_MAX,
  isBlobRef,
  Replayer,
  type Stored,
  store,
  verifyTrajectory,
} from '../index.ts';

const ENTRY = { trajectory_id: 't', seq: 3 } as Entry;

async function readBack(stored: Stored, blobs: readonly BlobRow[]): Promise<Json> {
  return new Replayer(new RowsReader([], blobs)).values.value(ENTRY, stored);
}

describe('a large value is stored once, under the hash of its text', () => {
  const atTheEdge: [string, Json][] = [
    ['a text', 'x'.repeat(INLINE_MAX - 2)],
    ['a text of what is escaped', '\u001f'.repeat(INLINE_MAX / 8) + 'x'.repeat(INLINE_MAX / 4 - 2)],
    ['numbers', new Array(INLINE_MAX / 8 - 1).fill(1234567)],
    ['one long key', { ['k'.repeat(INLINE_MAX - 6)]: 1 }],
  ];
  test.each(atTheEdge)('%s, to the unit', (_what, fits) => {
    const text = canonicalize(fits);
    // Numbers leave the last units unused.
    const most = text.length;
    expect(INLINE_MAX - most).toBeLessThan(10);
    const blobs: BlobRow[] = [];
    expect(store(fits, blobs)).toBe(fits);
    expect(store(fits, blobs, most)).toBe(fits);
    expect(blobs).toEqual([]);
    expect(store(fits, blobs, most - 1)).toEqual({
      $blob: hashText(text),
      bytes: Buffer.byteLength(text),
    });
    expect(blobs).toEqual([{ hash: hashText(text), text }]);
    const larger = [fits, 'x'.repeat(10)];
    expect(store(larger, blobs)).toMatchObject({ $blob: hashText(canonicalize(larger)) });
  });

  test('the same value twice names one blob', () => {
    const blobs: BlobRow[] = [];
    const value = 'x'.repeat(20_000);
    expect(store(value, blobs)).toEqual(store(value, blobs));
    expect(new Set(blobs.map(({ hash }) => hash)).size).toBe(1);
  });

  test('bytes count UTF-8', () => {
    const stored = store('é'.repeat(9), [], 4) as BlobRef;
    expect(stored.bytes).toBe(20);
  });

  test('a value inline or not is its canonical text and reads back (property)', async () => {
    await fc.assert(
      fc.asyncProperty(jsonValue, fc.integer({ min: 0, max: 80 }), async (value, inlineMax) => {
        const blobs: BlobRow[] = [];
        const stored = store(value as Json, blobs, inlineMax);
        const inPlace = canonicalize(value).length <= inlineMax;
        expect(isBlobRef(stored)).toBe(!inPlace);
        expect(blobs).toHaveLength(inPlace ? 0 : 1);
        expect(canonicalize(await readBack(stored, blobs))).toBe(canonicalize(value));
      }),
      { numRuns: cases(2_000) },
    );
  });
});

describe('a value can’t forge a reference', () => {
  const lookalikes: Json[] = [
    { $blob: 'a'.repeat(64), bytes: 3 },
    { $blob: null },
    { $erased: 'a'.repeat(64) },
    { $blob: 'a'.repeat(64), $erased: 'b'.repeat(64), more: [1] },
  ];
  test.each(lookalikes)('%j is stored as a blob and reads back as it is', async (value) => {
    const blobs: BlobRow[] = [];
    const stored = store(value, blobs) as BlobRef;
    expect(stored.$blob).toBe(hashText(canonicalize(value)));
    expect(await readBack(stored, blobs)).toEqual(value);
  });

  test.each(lookalikes)('%j inside a value is only data', async (value) => {
    for (const inside of [[value], { x: value }, { x: { $blob: value } }]) {
      const blobs: BlobRow[] = [];
      const stored = store(inside as Json, blobs);
      expect(stored).toBe(inside);
      expect(await readBack(stored, blobs)).toEqual(inside);
    }
  });

  test('a list is never a reference', () => {
    const list = Object.assign([1], {}) as Json;
    expect(isBlobRef(list)).toBe(false);
    expect(blobOf(list)).toBeUndefined();
  });
});

describe('reading a reference', () => {
  const value = { large: 'x'.repeat(100) };
  const blobs: BlobRow[] = [];
  const stored = store(value, blobs, 10) as BlobRef;
  const [blob] = blobs as [BlobRow];
  const bad: [string, BlobRef, BlobRow[], string][] = [
    ['that is not there', stored, [], 'blob_missing'],
    [
      'whose text was changed',
      stored,
      [{ ...blob, text: blob.text.replace('xx', 'xy') }],
      'blob_tampered',
    ],
    ['whose text has no UTF-8 bytes', stored, [{ ...blob, text: '"\ud800"' }], 'blob_tampered'],
    ['whose text is of another blob', stored, [{ ...blob, text: '1' }], 'blob_tampered'],
    ['that is not a hash', { $blob: 'no hash', bytes: 1 }, blobs, 'malformed'],
    ['that is upper case', { ...stored, $blob: stored.$blob.toUpperCase() }, blobs, 'malformed'],
    ['that is a list', { $blob: [stored.$blob], bytes: 1 } as never, blobs, 'malformed'],
    ['that was erased', { $erased: stored.$blob } as never, blobs, 'malformed'],
  ];
  test.each(bad)(
    '%s is a fault of the entry that names it',
    async (_what, reference, there, code) => {
      await expect(readBack(reference, there)).rejects.toMatchObject({
        code,
        fault: { trajectory_id: 't', seq: 3 },
      });
    },
  );

  test('to a text that is not canonical, though it fits its hash, is a fault', async () => {
    const text = '{"b":1,"a":1}';
    const reference = { $blob: hashText(text), bytes: text.length };
    await expect(readBack(reference, [{ hash: hashText(text), text }])).rejects.toMatchObject({
      code: 'blob_tampered',
    });
  });
});

test('a state of 3 MB is one blob, read once, also with 20 branches', async () => {
  const state = {
    rows: Object.fromEntries(
      Array.from({ length: 30_000 }, (_, i) => [`row-${i}`, 'x'.repeat(80)]),
    ),
  };
  const blobs: BlobRow[] = [];
  const root = new ChainWriter('t');
  root.add('root', rootMembers(store(state, blobs)));
  const branches = Array.from({ length: 20 }, (_, i) => {
    const writer = new ChainWriter(`b${i}`);
    writer.add('branch', branchMembers(root.head));
    return writer;
  });
  expect(blobs).toHaveLength(1);
  expect((blobs[0] as BlobRow).text).toBe(canonicalize(state, WORLD_LIMITS));
  expect((blobs[0] as BlobRow).text.length).toBeGreaterThan(3_000_000 - 200_000);
  expect(root.head.payload.length).toBeLessThan(1_000);

  const reader = new RowsReader(
    [root, ...branches].flatMap(({ rows }) => rows),
    blobs,
  );
  let reads = 0;
  const counting = Object.assign(Object.create(null), {
    entries: (...args: Parameters<RowsReader['entries']>) => reader.entries(...args),
    resolve: (id: string) => reader.resolve(id),
    blob: (hash: string) => {
      reads++;
      return reader.blob(hash);
    },
    erasedBy: (hash: string) => reader.erasedBy(hash),
  });
  const replayer = new Replayer(counting);
  for (let i = 0; i < 20; i++) expect((await verifyTrajectory(replayer, `b${i}`)).valid).toBe(true);
  expect(reads).toBe(1);
});
