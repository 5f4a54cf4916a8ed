import { exportLines, importLines } from '@assize/audit/internal/export';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import {
  ALLERGY,
  Beliefs,
  beliefCases,
  MEDICATION,
} from '../../../../../tests/support/ledger/belief-cases.ts';
import {
  type Ledger,
  linesOf,
  readable,
  verdictsOf,
} from '../../../../../tests/support/ledger/erasure-cases.ts';
import { type Members, RowsReader, second } from '../../../../../tests/support/ledger/rows.ts';
import { positionsOf } from '../entry/references.ts';
import {
  type BeliefChange,
  beliefChange,
  checkRow,
  type Entry,
  erasableHashesOf,
  type FactWrite,
  factWrites,
  integrateLog,
  isBlobRef,
  OPEN_END,
  OPEN_START,
  payloadFault,
  Replayer,
  runsOf,
  ValueReader,
} from '../index.ts';

const cases = beliefCases();
const ledgerOf = (name: string): Ledger => cases.find((one) => one.name === name)!.ledger;
const entriesOf = ({ rows }: Ledger): Entry[] => rows.map((row) => checkRow(row));
const valuesOf = ({ rows, blobs, erased }: Ledger): ValueReader =>
  new ValueReader(new RowsReader(rows, blobs, erased));

test.each(cases)('$name: $verdict', async ({ ledger, verdict }) => {
  expect(Object.values(await verdictsOf(ledger))).toEqual([verdict]);
});

test('malformed fields are found in the entry before its references are read', () => {
  const formless = cases.filter(({ name }) => /^(change|key|row) with /.test(name));
  expect(formless.length).toBeGreaterThan(100);
  for (const { name, ledger } of formless) {
    const faults = ledger.rows.map((row) => payloadFault(JSON.parse(row.payload)));
    expect([name, ...faults]).toEqual([
      name,
      undefined,
      undefined,
      'delta is not valid',
      ...faults.slice(3),
    ]);
  }
});

test('a valid ledger passes through an export unchanged', async () => {
  const valid = cases.filter(({ verdict }) => verdict === 'valid');
  expect(valid.length).toBeGreaterThan(5);
  for (const { name, ledger } of valid) {
    expect([name, await readable(ledger)]).toEqual([name, true]);
    const store = new MemoryStore();
    async function* lines(): AsyncGenerator<string> {
      yield* linesOf(ledger).trimEnd().split('\n');
    }
    await importLines(store, lines());
    await integrateLog(store);
    let again = '';
    for await (const line of exportLines(store)) again += line;
    expect(again).toBe(linesOf(ledger));
  }
});

test('partitions and objects are positions of an entry in order, all erasable', () => {
  const [, , contested] = entriesOf(ledgerOf('honest'));
  const { beliefs } = (contested!.payload as { delta: { beliefs: readonly BeliefChange[] } }).delta;
  const expected = beliefs.flatMap(({ partition, insert }) => [
    partition,
    ...insert.map(({ object }) => object),
  ]);
  expect(positionsOf(contested!.payload).filter(isBlobRef)).toEqual(expected);
  expect(erasableHashesOf(contested!.payload)).toEqual(expected.map(({ $blob }) => $blob));
});

test('a commit that changes facts joins no run, as its references must be read', () => {
  const [, ...entries] = entriesOf(ledgerOf('honest'));
  expect(runsOf(entries)).toEqual([]);
});

test('a state is folded beside them, as if they were not there', async () => {
  const { rows, blobs } = ledgerOf('honest');
  const { fold } = await new Replayer(new RowsReader(rows, blobs)).replay('t');
  expect(fold.state).toEqual({ n: 0 });
});

describe('the memory write of an entry', () => {
  const writesOf = async (name: string): Promise<FactWrite[][]> => {
    const ledger = ledgerOf(name);
    return Promise.all(entriesOf(ledger).map((entry) => factWrites(entry, valuesOf(ledger))));
  };

  test('has rows of the entry with their texts, and is empty for a non-commit', async () => {
    const ledger = ledgerOf('honest');
    const [root, said, contested, taken, pending, approved] = await writesOf('honest');
    expect([root, pending]).toEqual([[], []]);
    expect([said, taken, approved].map((writes) => writes!.length)).toEqual([1, 1, 1]);
    const entry = entriesOf(ledger)[2]!;
    const { beliefs } = (entry.payload as { delta: { beliefs: readonly BeliefChange[] } }).delta;
    const [first, other] = contested!;
    expect(other).toMatchObject({
      partition: ALLERGY,
      version: 7,
      insert: [{ cardinality: 'multi-valued' }, {}, {}, {}],
    });
    const { $blob: hash, bytes } = beliefs[0]!.partition;
    expect(first).toEqual({
      partition: MEDICATION,
      names: { hash, bytes },
      version: 2,
      system_time: second(2),
      close: [{ fact_id: 'a', system_time_start: second(1) }],
      insert: beliefs[0]!.insert.map(({ object, ...row }, i) => ({
        ...row,
        ...MEDICATION,
        object: ['a witness', 'none'][i],
        content: { hash: object.$blob, bytes: object.bytes },
        provenance_id: [`w:${entry.id}#0 + w:${entry.id}#1`, `2*t:policy:v1*w:${entry.id}#1`][i],
        system_time_start: second(2),
        system_time_end: OPEN_END,
        entry_id: entry.id,
        seq: 2,
        cardinality: 'single-valued',
      })),
    });
  });

  test('has the erasure marker for an erased value', async () => {
    const [, , contested] = await writesOf('all that one commit says erased');
    for (const { partition, names, insert } of contested!) {
      const gone = `{"$erased":"${names.hash}"}`;
      expect(partition).toEqual({ space: gone, subject: gone, predicate: gone });
      for (const { object, content, subject } of insert)
        expect([object, subject]).toEqual([`{"$erased":"${content.hash}"}`, gone]);
    }
  });

  const unsound = cases.filter(
    ({ name, verdict }) => /^(a partition|an object) /.test(name) && verdict !== 'valid',
  );

  test.each(unsound)('is not made of $name', async ({ ledger, verdict }) => {
    const entry = entriesOf(ledger)[2]!;
    await expect(factWrites(entry, valuesOf(ledger))).rejects.toMatchObject({
      code: verdict.slice(2),
    });
  });
});

describe('a plan', () => {
  const made = new Beliefs();
  const { object, ...columns } = made.row('a', 'none') as { object: never } & Members;
  const row = {
    ...columns,
    system_time_start: second(1),
    seq: 1,
    cardinality: 'single-valued',
    subject: 'alice',
  };
  const plan = { systemTime: second(1), close: [], insert: [row] } as never;
  const of = {
    partition: object,
    version: 1,
    cardinality: 'single-valued',
    objects: [object],
  } as const;

  test('is a change with just the columns of a row', () => {
    expect(beliefChange(plan, of)).toEqual({
      partition: object,
      version: 1,
      cardinality: 'single-valued',
      system_time: second(1),
      close: [],
      insert: [{ ...columns, object }],
    });
  });
});

test('the open borders of time lie outside of all instants, on their sides', () => {
  expect([
    OPEN_START < '0001',
    OPEN_END > '9998-12-31T23:59:59.999999Z',
    OPEN_START.length,
    OPEN_END.length,
  ]).toEqual([true, true, 27, 27]);
});
