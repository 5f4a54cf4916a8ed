import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { addMicros } from '#canon';
import { defineDomain } from '#kernel';
import type { MemoryKey, MemoryView } from '#runtime';
import { cases } from '../support/cases.ts';
import { HandClock, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryStore } from '../support/ledger/stores.ts';

// Statements of a trajectory, of a branch and of a branch of the branch. For each memory the listed
// keys are compared with the whole history.

const believer = defineDomain({
  name: 'believer',
  version: '1',
  state: z.object({}),
  initial: {},
  processes: {},
  roles: {},
  actions: {},
  invariants: [],
  memory: {
    predicates: {
      Last: { cardinality: 'single-valued', strategy: 'lww' },
      any: { cardinality: 'multi-valued', strategy: 'lww' },
    },
  },
});

const writ = writFor('writer');
const SPACE = 'space';
/** Their order by code points is another one than by code units. */
const SUBJECTS = ['ann', 'ANNA', 'İda', 'last', '\u{1f600}', '\uff5e', '\uff5ea'];
const TEXTS = ['', 'an', 'AN', 'La', 'i̇', '\uff5e', 'none of them'];
const IDS = ['t', 'branch', 'deeper'];

const statement = fc.record({
  by: fc.constantFrom(...IDS),
  subject: fc.oneof(fc.constant('ann'), fc.constantFrom(...SUBJECTS)),
  predicate: fc.constantFrom('Last', 'Last', 'any'),
  object: fc.constantFrom('a', 'b', 'c'),
  from: fc.integer({ min: 1, max: 3 }),
  micros: fc.constantFrom(0, 1),
});
type Statement = typeof statement extends fc.Arbitrary<infer T> ? T : never;

const statements = fc.array(statement, { minLength: 3, maxLength: 14, size: '+1' });

onEveryStore((stores) => {
  test('the keys are those of the history, whole and by pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        statements,
        statements,
        fc.integer({ min: 1, max: 4 }),
        async (early, late, limit) => {
          const store = await stores.newPlace().open();
          const clock = new HandClock();
          const assize = runtimeOver(store, [believer], { ports: { clock } });
          const say = async ({ by, micros, from, ...said }: Statement): Promise<void> => {
            clock.at = addMicros(clock.at, micros);
            const trajectory = await assize.open(by, believer);
            const memory = trajectory.memory({ space: SPACE, writ });
            const ruling = await memory.assert({
              ...said,
              valid: { from: `2026-01-0${from}T00:00:00.000000Z` },
            });
            expect(ruling.ruling).toBe('committed');
          };
          try {
            await assize.create(believer, { trajectoryId: 't', writs: [writ] });
            for (const each of early) await say({ ...each, by: 't' });
            for (const [n, id] of IDS.entries()) {
              if (n === 0) continue;
              const { head } = await assize.open(IDS[n - 1]!, believer);
              await assize.branch(IDS[n - 1]!, head, {
                trajectoryId: id,
                note: 'try',
                writs: [writ],
              });
            }
            for (const each of late) await say(each);
            for (const id of [undefined, ...IDS]) await expectKeys(assize.memory(SPACE, id), limit);
          } finally {
            await assize.close();
            await store.close();
          }
        },
      ),
      {
        numRuns: cases(stores.kind === 'postgres' ? 5 : 20),
        endOnFailure: stores.kind === 'postgres',
      },
    );
  });
});

async function expectKeys(memory: MemoryView, limit: number): Promise<void> {
  const all = await grouped(memory);
  expect(await memory.keys()).toEqual({ keys: all, isTruncated: false });
  for (const text of TEXTS) {
    const wanted = text.toLowerCase();
    const matching = all.filter(({ subject, predicate }) =>
      [subject, predicate].some((name) => name.toLowerCase().includes(wanted)),
    );
    expect(await paged(memory, text, limit)).toEqual(matching);
  }
}

async function grouped(memory: MemoryView): Promise<MemoryKey[]> {
  const rows = await memory.history({ kind: 'all' });
  const groups = Map.groupBy(rows, ({ subject, predicate }) =>
    JSON.stringify([subject, predicate]),
  );
  return Array.from(groups.values(), (same) => {
    const { subject, predicate } = same[0]!;
    const lost = same.filter(({ row_kind }) => row_kind === 'audit').length;
    return { subject, predicate, versions: same.length - lost, lost };
  });
}

async function paged(memory: MemoryView, text: string, limit: number): Promise<MemoryKey[]> {
  const found: MemoryKey[] = [];
  for (;;) {
    const after = found.at(-1);
    const { keys, isTruncated } = await memory.keys({
      ...{ text, limit },
      ...(after && { after: { subject: after.subject, predicate: after.predicate } }),
    });
    found.push(...keys);
    if (!isTruncated) return found;
    expect(keys).toHaveLength(limit);
    expect(found.length).toBeLessThan(2 * SUBJECTS.length);
  }
}
