import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize, hashText } from '#canon';
import {
  ChainWriter,
  commitMembers,
  erasureMembers,
  RowsReader,
  rootMembers,
  salted,
} from '../../../../../tests/support/ledger/rows.ts';
import { type BlobRef, type BlobRow, type ErasedRow, type Patch, ValueReader } from '../index.ts';
import { refersTo } from './values.ts';

const PLACE = { trajectory_id: 't', seq: 1 };

function blobOf(value: Json): { row: BlobRow; reference: BlobRef } {
  const text = canonicalize(value);
  const hash = hashText(text);
  return { row: { hash, text }, reference: { $blob: hash, bytes: Buffer.byteLength(text) } };
}

/** Two salted values of seq 1; seq 2 erases the first. */
function ledger() {
  const blobs: BlobRow[] = [];
  const [gone, kept] = [salted('gone', blobs), salted('kept', blobs)];
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({}));
  const state = [gone, kept].map((value, i) => ({ op: 'add', path: `/${i}`, value })) as Patch[];
  writer.add('commit', commitMembers(state));
  const by = writer.add('commit', erasureMembers([{ hash: gone.$blob, seq: 1 }])).id;
  const reader = (
    erased: readonly ErasedRow[] = [{ hash: gone.$blob, by }],
    texts: readonly BlobRow[] = blobs,
  ) => new RowsReader(writer.rows, texts, erased);
  return { gone, kept, blobs, rows: writer.rows, by, reader };
}

describe('a value', () => {
  test('stored inline equals itself, with any content', async () => {
    const values = new ValueReader(new RowsReader([]));
    for (const value of [null, 1, [], { a: { $blob: 'x' } }])
      expect(await values.read(PLACE, value)).toEqual({ value });
  });

  test('in a blob is read, with its salt left away', async () => {
    const plain = blobOf({ salt: '0'.repeat(32), value: 1 });
    const values = new ValueReader(new RowsReader([], [plain.row]));
    expect(await values.read(PLACE, plain.reference)).toEqual({
      value: { salt: '0'.repeat(32), value: 1 },
    });
    expect(await values.read(PLACE, { ...plain.reference, salted: true })).toEqual({ value: 1 });
  });

  test('that was erased is so, and is counted once', async () => {
    const { gone, kept, reader } = ledger();
    const values = new ValueReader(reader());
    for (let n = 0; n < 2; n++)
      expect(await values.read(PLACE, gone)).toEqual({ $erased: gone.$blob });
    expect(await values.value(PLACE, gone)).toEqual({ $erased: gone.$blob });
    expect(await values.value(PLACE, kept)).toBe('kept');
    expect([values.erasedIn('t'), values.erasedIn('u')]).toEqual([1, 0]);
  });

  test('null beside a salt is null', async () => {
    const blobs: BlobRow[] = [];
    const reference = salted(null, blobs);
    expect(await new ValueReader(new RowsReader([], blobs)).read(PLACE, reference)).toEqual({
      value: null,
    });
  });
});

describe('a fault names the entry that refers', () => {
  const { gone, kept, blobs, rows, by, reader } = ledger();
  const plain = blobOf('plain');
  const none = blobOf(['no salt']);
  const gap = { hash: hashText(' 1'), text: ' 1' };
  test.each<[string, BlobRef, RowsReader, string]>([
    ['a text that is not there', plain.reference, reader(), 'blob_missing'],
    ['one that is gone without a word', gone, reader([], blobs.slice(1)), 'blob_missing'],
    [
      'an unsalted one that was erased',
      { $blob: gone.$blob, bytes: gone.bytes },
      reader(),
      'blob_missing',
    ],
    ['an erasure that names another', kept, reader([{ hash: kept.$blob, by }]), 'blob_missing'],
    [
      'an entry that erases nothing',
      gone,
      reader([{ hash: gone.$blob, by: rows[1]?.id as string }]),
      'blob_missing',
    ],
    [
      'an entry that is not there',
      gone,
      reader([{ hash: gone.$blob, by: hashText('x') }]),
      'blob_missing',
    ],
    [
      'another text under its name',
      plain.reference,
      reader([], [{ ...plain.row, text: '"other"' }]),
      'blob_tampered',
    ],
    ['another length', { ...plain.reference, bytes: 1 }, reader([], [plain.row]), 'blob_tampered'],
    [
      'a text that is not canonical',
      { $blob: gap.hash, bytes: 2 },
      reader([], [gap]),
      'blob_tampered',
    ],
    ['no salt', { ...none.reference, salted: true }, reader([], [none.row]), 'malformed'],
    ['no hash', { $blob: 'x', bytes: 1 }, reader(), 'malformed'],
  ])('%s', async (_what, reference, store, code) => {
    await expect(new ValueReader(store).read(PLACE, reference)).rejects.toMatchObject({
      code,
      fault: PLACE,
    });
  });

  test('an erasure that was changed afterwards', async () => {
    const tampered = rows.map((row) =>
      row.id === by ? { ...row, payload: row.payload.replace('asked', 'fraud') } : row,
    );
    const values = new ValueReader(new RowsReader(tampered, blobs, [{ hash: gone.$blob, by }]));
    await expect(values.read(PLACE, gone)).rejects.toMatchObject({
      code: 'blob_missing',
      fault: PLACE,
    });
  });

  test('an erasure of its own arguments, and does not go round', async () => {
    const texts: BlobRow[] = [];
    const args = salted({ at: [], entries: [], reason: 'x', values: [] }, texts);
    const writer = new ChainWriter('t');
    writer.add('root', rootMembers({}));
    const action = { name: 'assize.erase', role: { name: 'assize', params: {} }, args };
    const id = writer.add('commit', commitMembers([], { action })).id;
    const values = new ValueReader(
      new RowsReader(writer.rows, texts, [{ hash: args.$blob, by: id }]),
    );
    await expect(values.read(PLACE, args)).rejects.toMatchObject({
      code: 'blob_missing',
      fault: PLACE,
    });
  });
});

test('the erasures of an entry are read once, also by concurrent readers', async () => {
  const { gone, reader } = ledger();
  const store = reader();
  let asked = 0;
  const resolve = (id: string) => {
    asked++;
    return store.resolve(id);
  };
  const values = new ValueReader({
    blob: (hash) => store.blob(hash),
    erasedBy: (hash) => store.erasedBy(hash),
    resolve,
  });
  await Promise.all(Array.from({ length: 10 }, () => values.read(PLACE, gone)));
  expect(asked).toBe(1);
});

describe('operations', () => {
  const add = (value: unknown): Patch => ({ op: 'add', path: '/a', value }) as Patch;

  test('have values for references, and markers for erased references', async () => {
    const { gone, kept, reader } = ledger();
    const values = new ValueReader(reader());
    const list = [
      add(gone),
      add(kept),
      add({ $erased: gone.$blob }),
      add({ deep: kept }),
      { op: 'remove', path: '/a' },
    ];
    expect(await values.patches(PLACE, list as Patch[])).toEqual([
      add({ $erased: gone.$blob }),
      add('kept'),
      add({ $erased: gone.$blob }),
      add({ deep: kept }),
      { op: 'remove', path: '/a' },
    ]);
  });

  test('in a blob are as they are', async () => {
    const { gone } = ledger();
    const list = blobOf([add(gone)] as unknown as Json);
    const values = new ValueReader(new RowsReader([], [list.row]));
    expect(await values.patches(PLACE, list.reference)).toEqual([add(gone)]);
    const text = blobOf('no list');
    const other = new ValueReader(new RowsReader([], [text.row]));
    await expect(other.patches(PLACE, text.reference)).rejects.toMatchObject({
      code: 'bad_patch',
      fault: PLACE,
    });
  });

  test('an erasure marker is not a reference', () => {
    expect(
      [{ $blob: 'x' }, { $erased: 'x' }, { $erased: 'x', $blob: 'x' }, null].map(refersTo),
    ).toEqual([true, false, true, false]);
  });
});
