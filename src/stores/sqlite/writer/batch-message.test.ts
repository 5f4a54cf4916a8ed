import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Batch, EffectWrite, EntryRow, FactVersion, FactWrite, PartitionName, PartitionRead } from '#ledger';
import { batchOfFlat, flatBatch } from './batch-message.ts';

const text = fc.string({ maxLength: 4 });
const number = fc.nat(9);
const few = <T>(each: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(each, { maxLength: 3 });
const plain = <T extends object>(members: { [name in keyof T]: fc.Arbitrary<T[name]> }) =>
  fc.record(members, { noNullPrototype: true });
/** With all members of T, of which only these are always there; none is ever undefined. One that is added fails to compile here. */
const some = <T extends object>(
  members: { [name in keyof Required<T>]: fc.Arbitrary<Required<T>[name]> },
  requiredKeys: (keyof T)[],
): fc.Arbitrary<T> =>
  fc.record(members as never, { requiredKeys: requiredKeys as never[], noNullPrototype: true }) as fc.Arbitrary<T>;

const partition = some<PartitionName>({ space: text, subject: text, predicate: text, branch: text }, [
  'space',
  'subject',
  'predicate',
]);
const columns = plain<Omit<FactVersion, keyof PartitionName>>({
  fact_id: text,
  object: text,
  content: plain({ hash: text, bytes: number }),
  valid_from: text,
  valid_to: text,
  system_time_start: text,
  system_time_end: text,
  provenance_id: text,
  confidence: fc.double({ noNaN: true }),
  resolution_strategy_id: text,
  row_kind: fc.constantFrom('current', 'audit'),
  resolution_id: fc.option(text),
  lineage: text,
  asserted_seq: number,
  asserted_from: text,
  entry_id: text,
  seq: number,
  cardinality: fc.constantFrom('single-valued', 'multi-valued'),
});
const change = partition.chain((of) => {
  const rows = few(columns.map((row) => ({ ...of, ...row })));
  const members = {
    partition: fc.constant(of),
    names: plain({ hash: text, bytes: number }),
    version: number,
    system_time: text,
    close: few(plain({ fact_id: text, system_time_start: text })),
    insert: rows,
    inherit: plain({ until: text, rows }),
    repeats: few(text),
    reads: few(partition.chain((read) => plain<PartitionRead>({ partition: fc.constant(read), version: number }))),
  };
  return some<FactWrite>(members, ['partition', 'names', 'version', 'system_time', 'close', 'insert']);
});
const effects = some<EffectWrite>(
  {
    fence: fc.integer({ min: 1 }),
    begun: few(plain({ epoch: number, trajectory_id: text, body: text })),
    records: few(plain({ epoch: number, place: number, record: text })),
    keys: few(plain({ key: text, epoch: number, n: number })),
    ended: few(number),
  },
  ['fence'],
);
const entry = plain<EntryRow>({
  id: text,
  trajectory_id: text,
  parent: fc.option(text),
  seq: number,
  kind: fc.constantFrom('root', 'commit'),
  payload: text,
});
const batch = some<Batch>(
  {
    entries: few(entry),
    blobs: few(plain({ hash: text, text })),
    erased: few(plain({ hash: text, by: text })),
    erasedAnswers: few(plain({ key: text, by: text })),
    effects,
    facts: few(change),
    repeats: few(text),
    awaitsFacts: fc.boolean(),
  },
  ['entries', 'blobs'],
);

test('a batch comes out of its list as it went in, with the members that it has and no others', () => {
  fc.assert(
    fc.property(batch, (given) => {
      const copied = structuredClone(flatBatch(given));
      expect(copied.every((each) => typeof each !== 'object' || each === null)).toBe(true);
      expect(batchOfFlat(copied)).toStrictEqual(given);
    }),
    { numRuns: 1_000 },
  );
});
