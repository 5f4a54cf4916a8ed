import type { FactVersion, FactWrite, PartitionName } from 'assize/internal/ledger';
import { OPEN_END, OPEN_START } from 'assize/internal/memory';
import { expect } from 'vitest';
import { ALICE, changeOf, contentOf, day, keyOfRow } from '../fact-rows.ts';
import { batchOf, blobOf, entryAfter } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { FactLedger } from '../suite-types.ts';
import { COMMITTED } from './answers.ts';

const BOB = { ...ALICE, subject: 'bob' };
const OUTDATED = { status: 'outdated', partition: ALICE };

/** A change that is outdated or invalid changes no facts. */
export function factRefusalLaws({ law, openNew }: Bench<FactLedger>): void {
  law('a change of a partition goes only after the version it names', async () => {
    const store = await openNew();
    const put = (version: number) => commit(store, [during(version, 10 + version, `${version}`)]);
    for (const version of [2, 3]) expect(await put(version)).toEqual(OUTDATED);
    expect(await put(1)).toEqual(COMMITTED);
    for (const version of [1, 3, 4]) expect(await put(version)).toEqual(OUTDATED);
    expect(await put(2)).toEqual(COMMITTED);
    expect(await store.partition(ALICE)).toMatchObject({ version: 2, latest: day(12) });
    // Also a partition that has never had a fact.
    expect(await commit(store, [{ ...during(2, 10, 'a'), partition: BOB, insert: [] }])).toEqual({
      ...OUTDATED,
      partition: BOB,
    });
  });

  law('a change goes only after the versions of the partitions that it read', async () => {
    const store = await openNew();
    const branch = { ...ALICE, branch: 'try' };
    const reading = (n: number, ...reads: (readonly [PartitionName, number])[]): FactWrite => ({
      ...changeOf({ ...BOB, subject: `${n}` }, 1, 10, [{ fact_id: `${n}` }]),
      reads: reads.map(([partition, version]) => ({ partition, version })),
    });
    const outdated = (n: number) => ({ ...OUTDATED, partition: { ...BOB, subject: `${n}` } });
    expect(await commit(store, [reading(1, [ALICE, 1])])).toEqual(outdated(1));
    expect(await commit(store, [reading(1, [ALICE, 0], [branch, 0])])).toEqual(COMMITTED);
    expect(await store.partition(ALICE)).toBeUndefined();
    expect(
      await commit(store, [during(1, 11, 'a'), changeOf(branch, 1, 11, [{ fact_id: 'a' }])]),
    ).toEqual(COMMITTED);
    for (const [alice, tried] of [
      [0, 1],
      [1, 0],
      [2, 1],
      [1, 2],
    ] as const)
      expect(await commit(store, [reading(2, [ALICE, alice], [branch, tried])])).toEqual(
        outdated(2),
      );
    // Checked against the facts before the batch, even if the batch changes the partition that it
    // reads.
    expect(await commit(store, [during(2, 12, 'b'), reading(2, [ALICE, 2])])).toEqual(outdated(2));
    expect(await commit(store, [during(2, 12, 'b'), reading(2, [ALICE, 1], [branch, 1])])).toEqual(
      COMMITTED,
    );
    expect(await store.partition(ALICE)).toMatchObject({ version: 2, latest: day(12) });
    expect(await store.partition(branch)).toMatchObject({ version: 1, latest: day(11) });
    // Many at the same time. Some change partitions that others were planned on. The result is as
    // if in order.
    const both = [
      reading(3, [ALICE, 2]),
      during(3, 13, 'c'),
      reading(4, [ALICE, 2]),
      reading(5, [ALICE, 3]),
    ];
    const answers = await Promise.all(both.map((write) => commit(store, [write])));
    expect(answers).toEqual([COMMITTED, COMMITTED, outdated(4), COMMITTED]);
    expect(await store.facts({ ...BOB, subject: '3' })).toHaveLength(1);
  });

  law('of 50 concurrent changes of a partition one commits, 49 are outdated', async () => {
    const store = await openNew();
    const changes = Array.from({ length: 50 }, (_, n) =>
      commit(store, [during(1, 10 + n, `${n}`)]),
    );
    const answers = await Promise.all(changes);
    expect(answers.filter(({ status }) => status === 'committed')).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 'outdated')).toHaveLength(49);
    expect(await store.facts({ space: ALICE.space })).toHaveLength(1);
  });

  law('a change that does not fit is misuse, and its batch writes nothing', async () => {
    const store = await openNew();
    const first = changeOf(ALICE, 1, 10, [
      { fact_id: 'a', valid_to: day(5) },
      { fact_id: 'b', valid_from: day(5), valid_to: day(9) },
      { fact_id: 'audit', row_kind: 'audit' },
    ]);
    const [a, b, audit] = first.insert.map(keyOfRow) as [
      (typeof first.close)[0],
      (typeof first.close)[0],
      (typeof first.close)[0],
    ];
    const second = changeOf(ALICE, 2, 20, [{ fact_id: 'a', valid_from: day(20) }], [a]);
    for (const write of [first, second]) expect(await commit(store, [write])).toEqual(COMMITTED);
    const next = (more: Partial<FactWrite>): FactWrite => ({
      ...changeOf(ALICE, 3, 30, []),
      ...more,
    });
    const rows = (...args: Parameters<typeof changeOf>[3]): FactVersion[] => [
      ...changeOf(ALICE, 3, 30, args).insert,
    ];
    const wrong: FactWrite[] = [
      next({ system_time: day(20) }),
      next({ system_time: day(19) }),
      next({ close: [a] }),
      next({ close: [audit] }),
      next({ close: [b, b] }),
      next({ close: [{ ...b, fact_id: 'a' }] }),
      next({ close: [{ ...b, system_time_start: day(11) }] }),
      next({
        close: [{ fact_id: 'x', system_time_start: day(30) }],
        insert: rows({ fact_id: 'x', valid_from: day(10), valid_to: day(11) }),
      }),
      next({
        insert: rows({ fact_id: 'x', row_kind: 'audit' }, { fact_id: 'x', row_kind: 'audit' }),
      }),
      next({ insert: rows({ fact_id: 'x', valid_from: day(8), valid_to: day(10) }) }),
      next({ insert: rows({ fact_id: 'x', valid_from: OPEN_START }) }),
      next({ close: [b], insert: rows({ fact_id: 'x', valid_from: day(5) }) }),
      next({
        insert: rows(
          { fact_id: 'x', valid_from: day(10), valid_to: day(12) },
          { fact_id: 'y', valid_from: day(11), valid_to: day(13) },
        ),
      }),
      next({ names: contentOf('other') }),
    ];
    const before = await store.facts({ space: ALICE.space, kind: 'all' });
    const entry = entryAfter(undefined, 't');
    const blob = blobOf('blob');
    for (const [n, write] of wrong.entries()) {
      const other = changeOf(BOB, 1, 30, [{ fact_id: 'bob' }]);
      const batch = {
        ...batchOf(entry, [blob]),
        facts: n % 2 === 0 ? [other, write] : [write, other],
      };
      const answer = await store.commit(batch).then(
        (result) => ({ n, result }),
        ({ code }) => ({ n, code }),
      );
      expect(answer).toEqual({ n, code: 'store_invalid_input' });
    }
    expect(await store.facts({ space: ALICE.space, kind: 'all' })).toEqual(before);
    expect([
      await store.partition(BOB),
      await store.head('t'),
      await store.blob(blob.hash),
    ]).toEqual(Array(3).fill(undefined));
    // Adjacent periods do not overlap.
    const apart = rows(
      { fact_id: 'x', valid_from: day(9), valid_to: day(20) },
      { fact_id: 'y', valid_from: OPEN_START, valid_to: day(5) },
    );
    expect(await commit(store, [next({ insert: apart })])).toEqual(COMMITTED);
  });

  law('an outdated change is reported as outdated, even if it is also misuse', async () => {
    const store = await openNew();
    await commit(store, [during(1, 10, 'a')]);
    const wrong = {
      ...during(1, 9, 'a'),
      close: [{ fact_id: 'nobody', system_time_start: day(1) }],
    };
    const misuse = { ...changeOf(BOB, 1, 9, []), close: wrong.close };
    expect(await commit(store, [wrong])).toEqual(OUTDATED);
    expect(await commit(store, [misuse, wrong])).toEqual(OUTDATED);
    await expect(commit(store, [misuse])).rejects.toMatchObject({ code: 'store_invalid_input' });
  });

  law('of a predicate with several values rows may overlap', async () => {
    const store = await openNew();
    const several = { cardinality: 'multi-valued' } as const;
    const both = changeOf(ALICE, 1, 10, [
      { fact_id: 'a', ...several },
      { fact_id: 'b', ...several, valid_from: day(2) },
    ]);
    expect(await commit(store, [both])).toEqual(COMMITTED);
    const at = { ...ALICE, valid: day(3), system: 'now' } as const;
    expect(await store.facts(at)).toEqual(both.insert);
    expect(await store.facts({ ...at, limit: 1 })).toEqual(both.insert.slice(0, 1));
    // Refused when the predicate has one value from now on.
    const one = (close: FactWrite['close']) => changeOf(ALICE, 2, 11, [{ fact_id: 'c' }], close);
    await expect(commit(store, [one(both.insert.slice(0, 1).map(keyOfRow))])).rejects.toMatchObject(
      {
        code: 'store_invalid_input',
      },
    );
    expect(await commit(store, [one(both.insert.map(keyOfRow))])).toEqual(COMMITTED);
    expect(await store.facts({ ...at, limit: 1 })).toMatchObject([{ fact_id: 'c' }]);
    expect(await store.facts({ ...at, system: day(10) })).toHaveLength(2);
  });

  law('a branch’s inherited rows of a single-valued predicate cannot overlap', async () => {
    const store = await openNew();
    const branch = { ...ALICE, branch: 'try' };
    const begun = (
      subject: string,
      other: Partial<FactVersion>,
      close: FactWrite['close'] = [],
    ): FactWrite => {
      const one = { fact_id: `${subject} one`, valid_from: day(4), valid_to: day(6) };
      const { insert: rows } = changeOf({ ...branch, subject }, 1, 10, [
        one,
        { ...one, ...other, fact_id: subject },
      ]);
      return {
        ...changeOf({ ...branch, subject }, 2, 30, [], close),
        inherit: { until: day(29), rows },
      };
    };
    const lasting = { valid_from: day(1), valid_to: day(5) };
    for (const other of [lasting, {}, { valid_from: day(5), valid_to: day(9) }])
      await expect(commit(store, [begun('alice', other)])).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
    for (const write of [
      begun('alice', lasting, [{ fact_id: 'alice one', system_time_start: day(10) }]),
      begun('bob', { ...lasting, cardinality: 'multi-valued' }),
      begun('carol', { valid_from: day(6), valid_to: day(9) }),
    ])
      expect(await commit(store, [write])).toEqual(COMMITTED);
    expect(await store.facts({ space: ALICE.space, branch: 'try', system: 'now' })).toHaveLength(5);
  });

  law('a version of a fact is in a space once', async () => {
    const store = await openNew();
    const of = (subject: string, space = ALICE.space, at = 10) =>
      changeOf({ ...ALICE, subject, space }, 1, at, [{ fact_id: 'a' }]);
    expect(await commit(store, [of('alice')])).toEqual(COMMITTED);
    await expect(commit(store, [of('bob')])).rejects.toMatchObject({ code: 'store_invalid_input' });
    await expect(commit(store, [of('carol', 'other'), of('dave', 'other')])).rejects.toMatchObject({
      code: 'store_invalid_input',
    });
    expect(await commit(store, [of('bob', 'other')])).toEqual(COMMITTED);
    expect(await commit(store, [of('bob', ALICE.space, 11)])).toEqual(COMMITTED);
  });

  law('a fact that no row can hold is refused', async () => {
    const store = await openNew();
    const right = during(1, 10, 'a');
    const rows: Partial<Record<keyof FactVersion, readonly unknown[]>> = {
      fact_id: [7, 'a\0', '\ud800'],
      space: ['other'],
      subject: ['other'],
      predicate: [undefined],
      object: [undefined, 'a\0'],
      content: [undefined, {}, { hash: 'a', bytes: 1 }, { hash: 'a'.repeat(64), bytes: -1 }],
      valid_from: ['2026', OPEN_END, day(3), day(4)],
      valid_to: [OPEN_START, day(2), 7],
      system_time_start: [day(9), OPEN_START],
      system_time_end: [day(11), undefined],
      provenance_id: [null],
      confidence: [-0.1, 1.1, Number.NaN, '1', undefined],
      resolution_strategy_id: [7],
      row_kind: ['open', undefined],
      resolution_id: [undefined, 7],
      lineage: [undefined],
      asserted_seq: [-1, 0.5, '1'],
      asserted_from: [OPEN_END, 'x'],
      entry_id: ['@', undefined],
      seq: [2, undefined],
      cardinality: ['one', undefined],
    };
    const wrong: unknown[] = [7, {}, null, [null], [{}], [{ ...right, insert: [null] }]];
    for (const [column, values] of Object.entries(rows))
      for (const value of values)
        wrong.push([{ ...right, insert: [{ ...right.insert[0], [column]: value }] }]);
    const writes: Partial<Record<keyof FactWrite, readonly unknown[]>> = {
      partition: [undefined, {}, { ...ALICE, space: 7 }],
      names: [undefined, 'a', { hash: 'a', bytes: 1 }],
      version: [0, 1.5, '1', undefined],
      system_time: [OPEN_START, OPEN_END, undefined],
      close: [undefined, [null], [{ fact_id: 'a' }], [{ fact_id: 'a', system_time_start: 'x' }]],
      insert: [undefined, 7],
      reads: [
        7,
        [null],
        [{}],
        ...[-1, 0.5, '1', undefined].map((version) => [{ partition: ALICE, version }]),
        ...[null, {}, { ...ALICE, branch: '' }, { ...ALICE, space: 7 }].map((partition) => [
          { partition, version: 0 },
        ]),
      ],
    };
    for (const [member, values] of Object.entries(writes))
      for (const value of values) wrong.push([{ ...right, [member]: value }]);
    wrong.push([right, right]);
    const mixed = [
      { fact_id: 'a' },
      { fact_id: 'b', cardinality: 'multi-valued' as const, row_kind: 'audit' as const },
    ];
    wrong.push([changeOf(ALICE, 1, 10, mixed)]);
    for (const facts of wrong)
      await expect(store.commit({ ...batchOf([]), facts } as never)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
    expect(await store.spaces()).toEqual([]);
    expect(await commit(store, [right])).toEqual(COMMITTED);
  });
}

function commit(store: FactLedger, facts: readonly FactWrite[]) {
  return store.commit({ ...batchOf([]), facts });
}

/** A version that is valid on two days of its own. */
function during(version: number, at: number, fact_id: string): FactWrite {
  return changeOf(ALICE, version, at, [
    { fact_id, valid_from: day(2 * version), valid_to: day(2 * version + 1) },
  ]);
}
