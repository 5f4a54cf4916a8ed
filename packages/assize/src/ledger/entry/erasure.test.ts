import { exportLines, importLines, readExport } from '@assize/audit/internal/export';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { hashText } from '#canon';
import {
  erasureCases,
  type Ledger,
  linesOf,
  readable,
  verdictsOf,
} from '../../../../../tests/support/ledger/erasure-cases.ts';
import {
  ChainWriter,
  commitMembers,
  erasureMembers,
  RowsReader,
  rootMembers,
  salted,
} from '../../../../../tests/support/ledger/rows.ts';
import { type BlobRow, integrateLog, type Patch, Replayer, verifyTrajectory } from '../index.ts';
import { erasureArgs } from './erasure.ts';

const cases = erasureCases();

test.each(cases)('$name: $verdict', async ({ ledger, verdict }) => {
  const verdicts = Object.values(await verdictsOf(ledger));
  expect(verdicts.find((one) => one !== 'valid') ?? 'valid').toBe(verdict);
});

test('a valid ledger passes through an export unchanged and stays valid', async () => {
  const valid = cases.filter(({ verdict }) => verdict === 'valid');
  expect(valid.length).toBeGreaterThan(10);
  for (const { name, ledger } of valid) {
    expect([name, await readable(ledger)]).toEqual([name, true]);
    const store = new MemoryStore();
    await importLines(store, lines(linesOf(ledger)));
    await integrateLog(store);
    let again = '';
    for await (const line of exportLines(store)) again += line;
    expect(again).toBe(linesOf(ledger));
    for (const trajectory of new Set(ledger.rows.map((row) => row.trajectory_id)))
      expect(await verifyTrajectory(new Replayer(store), trajectory)).toMatchObject({
        valid: true,
      });
  }
});

test('values that are gone are counted once each, by trajectory', async () => {
  const blobs: BlobRow[] = [];
  const [ann, bob] = [salted('Ann', blobs), salted('Bob', blobs)];
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({}));
  writer.add('commit', commitMembers([add('/a', ann), add('/b', bob)]));
  writer.add('commit', commitMembers([add('/c', ann)]));
  const by = writer.add('commit', erasureMembers([{ hash: ann.$blob, seq: 1 }])).id;
  const other = new ChainWriter('other');
  other.add('root', rootMembers({}));
  const reader = new RowsReader([...writer.rows, ...other.rows], blobs, [{ hash: ann.$blob, by }]);
  const replayer = new Replayer(reader);
  expect(await verifyTrajectory(replayer, 't')).toMatchObject({ valid: true, erased: 1 });
  expect(await verifyTrajectory(replayer, 'other')).toMatchObject({ valid: true, erased: 0 });
  const marker = { $erased: ann.$blob };
  const { fold } = await replayer.replay('t');
  expect(fold.state).toEqual({ a: marker, b: 'Bob', c: marker });
});

test('a fold leaves the entries that it read as they are', async () => {
  const blobs: BlobRow[] = [];
  const writer = new ChainWriter('t');
  writer.add('root', {
    ...rootMembers({ people: {} }),
    sensitive: [add('/people/ann', salted('Ann', blobs))],
  });
  writer.add('commit', commitMembers([add('/people/bob', 1)]));
  const seen: unknown[] = [];
  const { fold } = await new Replayer(new RowsReader(writer.rows, blobs)).replay('t', {
    onEntry: ({ payload }) => payload.kind === 'root' && seen.push(payload.initial_state),
  });
  expect(fold.state).toEqual({ people: { ann: 'Ann', bob: 1 } });
  expect(seen).toEqual([{ people: {} }]);
});

describe('the arguments of an erasure', () => {
  const whole = {
    at: [],
    entries: [],
    reason: '',
    values: [{ hash: hashText('x'), seq: 0, path: '/a' }],
  };

  test('are of that form', () => {
    expect(erasureArgs(whole)).toBe(whole);
    expect(erasureArgs({ ...whole, values: [], more: 1 })).toMatchObject({ more: 1 });
  });

  test.each<[string, Json]>([
    ['null', null],
    ['a text', 'at'],
    ['a list', []],
    ...(['at', 'entries', 'reason', 'values'] as const).map((name): [string, Json] => {
      const { [name]: _, ...rest } = whole;
      return [`an object without ${name}`, rest];
    }),
    ['a value with no hash', { ...whole, values: [{ seq: 0 }] }],
    ['a value with an invalid seq', { ...whole, values: [{ hash: hashText('x'), seq: '0' }] }],
  ])('%s is not an erasure', (_what, args) => {
    expect(erasureArgs(args)).toBeUndefined();
  });
});

describe('lines that record an erasure', () => {
  const blobs: BlobRow[] = [];
  const [ann, bob] = [salted('Ann', blobs), salted('Bob', blobs)];
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({}));
  writer.add('commit', commitMembers([add('/a', ann), add('/b', bob)]));
  const by = writer.add('commit', erasureMembers([{ hash: ann.$blob, seq: 1 }])).id;
  writer.add('commit', commitMembers([add('/c', 1)]));
  const ledger: Ledger = {
    rows: writer.rows,
    blobs: [blobs[1] as BlobRow],
    erased: [{ hash: ann.$blob, by }],
  };
  // Header, root, erased, blob, commit, erasure, commit, trailer.
  const good = linesOf(ledger).trimEnd().split('\n');
  const said = good[2] as string;

  test('are read with the entry that they stand before', async () => {
    const entries = [];
    for await (const entry of readExport(lines(good.join('\n')))) entries.push(entry);
    expect(entries.map(({ erased }) => erased)).toEqual([[], [{ hash: ann.$blob, by }], [], []]);
    expect(entries.map(({ blobs: needed }) => needed.length)).toEqual([0, 1, 0, 0]);
  });

  const from = (text: string, to: string): string => said.replace(text, to);
  test.each<[string, number, string[], RegExp]>([
    ['twice', 4, [...good.slice(0, 3), said, ...good.slice(3)], /occurs twice/],
    [
      'beside the blob',
      4,
      [...good.slice(0, 3), `{"blob":${blobs[0]?.text},"hash":"${ann.$blob}"}`, ...good.slice(3)],
      /occurs twice/,
    ],
    [
      'without what else it needs',
      4,
      [...good.slice(0, 2), said, ...good.slice(4, 5)],
      /refers to/,
    ],
    [
      'before another entry',
      3,
      [good[0] as string, said, ...good.slice(1, 2)],
      /not a salted value of the next entry/,
    ],
    [
      'of no blob',
      5,
      [...good.slice(0, 2), from(ann.$blob, hashText('x')), ...good.slice(3)],
      /refers to/,
    ],
    [
      'in another order',
      5,
      [...good.slice(0, 2), good[3] as string, said, ...good.slice(4)],
      /does not need it next/,
    ],
    [
      'by an entry that erases nothing',
      7,
      [...good.slice(0, 2), from(by, writer.head.id), ...good.slice(3)],
      /which does not erase it/,
    ],
    [
      'by an entry before it',
      8,
      [...good.slice(0, 2), from(by, writer.rows[0]?.id as string), ...good.slice(3)],
      /is missing/,
    ],
    [
      'by none that is in it',
      8,
      [...good.slice(0, 2), from(by, hashText('x')), ...good.slice(3)],
      /is missing/,
    ],
    ['by no id', 3, [...good.slice(0, 2), from(by, 'x'), ...good.slice(3)], /hashes are not valid/],
    [
      'with more members',
      3,
      [...good.slice(0, 2), said.replace('}', ',"x":1}'), ...good.slice(3)],
      /it is not an entry/,
    ],
    [
      'before the trailer',
      9,
      [...good.slice(0, 7), from(ann.$blob, hashText('x')), ...good.slice(7)],
      /belongs to no entry/,
    ],
  ])('%s are refused by line %i', async (_what, number, text, saying) => {
    const read = async (): Promise<void> => {
      for await (const _ of readExport(lines(text.join('\n'))));
    };
    const error = await read().then(
      () => undefined,
      (caught: unknown) => caught as { code: string; message: string; evidence: object },
    );
    expect(error).toMatchObject({ code: 'bad_export', message: expect.stringMatching(saying) });
    expect(error?.evidence).toEqual({ line: number });
  });

  test('are not written where the erasure is not part of the export', async () => {
    const store = new MemoryStore();
    await importLines(store, lines(good.join('\n')));
    await integrateLog(store);
    const write = async (size: number): Promise<number> => {
      let count = 0;
      for await (const _ of exportLines(store, { size })) count++;
      return count;
    };
    await expect(write(2)).rejects.toMatchObject({
      code: 'blob_missing',
      message: expect.stringMatching(/export more/),
    });
    expect(await write(3)).toBe(7);
  });
});

function add(path: string, value: unknown): Patch {
  return { op: 'add', path, value } as Patch;
}

async function* lines(text: string): AsyncGenerator<string> {
  yield* text.trimEnd().split('\n');
}
