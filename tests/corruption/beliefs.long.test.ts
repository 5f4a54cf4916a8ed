/**
 * Facts changed by hand next to a trajectory that does not verify. `fsck` compares each partition
 * that it can, and names the others.
 */
import { describe, expect, test } from 'vitest';
import { type FsckReport, fsck } from '#checkpoints';
import type { FactStore, LedgerStore } from '#ledger';
import type { Memory } from '#runtime';
import { clinic } from '../support/clinic/clinic.ts';
import { HandClock, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryDatabase, type Place } from '../support/ledger/stores.ts';
import { someOf } from '../support/some-of.ts';

const writ = writFor('nurse');

/** The changes in order: the trajectory, and the patient. */
const SAID = [
  ['a', 'p1'],
  ['a', 'p2'],
  ['b', 'p1'],
  ['b', 'p3'],
  ['b', 'p4'],
  ['c', 'p4'],
  ['c', 'p1'],
  ['c', 'p5'],
] as const;
const VERSIONS = { p1: 3, p2: 1, p3: 1, p4: 2, p5: 1 } as const;

/** The partitions that were not compared: the version of each, and the end of its read entries. */
type Left = Readonly<Record<string, readonly [version: number, readTo: number]>>;

interface Damage {
  readonly what: string;
  /** Statements, where `b` has said this of `p1`. */
  readonly sql: readonly string[];
  readonly left: Left;
  /** Whether one extra version can belong to an unreadable entry. */
  readonly isInDoubt: boolean;
  /** The partition with versions from such entries only: one extra version is not a fault there. */
  readonly unknown?: string;
}

const AT = "WHERE trajectory = (SELECT key FROM trajectory WHERE name = 'b') AND seq =";
/** `p1` at seq 1 of `b`, `p3` and `p4` behind it. */
const DAMAGE: readonly Damage[] = [
  {
    what: 'an entry that can’t be read',
    sql: [`UPDATE entry SET payload = payload || ' ' ${AT} 1`],
    left: { p1: [3, 1], p3: [1, 0], p4: [2, 0] },
    isInDoubt: true,
  },
  {
    what: 'the unreadable last entry',
    sql: [`UPDATE entry SET payload = payload || ' ' ${AT} 3`],
    left: { p4: [2, 0] },
    isInDoubt: true,
  },
  {
    what: 'an entry that is gone',
    // The entries before the gap can have been inserted as well.
    sql: [`DELETE FROM entry ${AT} 2`],
    left: { p3: [1, 0], p4: [2, 0] },
    isInDoubt: true,
    unknown: 'p3',
  },
  {
    what: 'a text that is gone, of entries that all can be read',
    sql: ["DELETE FROM blob WHERE text LIKE '%said by b%'"],
    left: { p1: [3, 1], p3: [1, 0], p4: [2, 0] },
    isInDoubt: false,
  },
];

onEveryDatabase(({ kind, newPlace }) => {
  /**
   * Runs statements that may set versions back. A trigger of PostgreSQL prevents that otherwise.
   */
  async function change(place: Place, ...sql: readonly string[]): Promise<void> {
    const trigger = (does: string): string[] =>
      kind === 'postgres' ? [`ALTER TABLE fact_partition ${does} TRIGGER refuse_going_back`] : [];
    await place.sql(...trigger('DISABLE'), ...sql, ...trigger('ENABLE'));
  }

  async function told(): Promise<Place> {
    const place = newPlace();
    const store = await place.open();
    const clock = new HandClock();
    const assize = runtimeOver(store, [clinic], { ports: { clock } });
    const memories = new Map<string, Memory>();
    for (const trajectoryId of ['a', 'b', 'c']) {
      const trajectory = await assize.create(clinic, { trajectoryId, writs: [writ] });
      memories.set(trajectoryId, trajectory.memory({ space: 'ward', writ }) as unknown as Memory);
    }
    for (const [by, subject] of SAID) {
      clock.forward(1_000_000);
      await memories.get(by)!.assert({ subject, predicate: 'allergy', object: `said by ${by}` });
    }
    await store.close();
    return place;
  }

  async function checked(place: Place): Promise<FsckReport> {
    const store = (await place.open({ mode: 'readonly' })) as unknown as LedgerStore &
      FactStore & { close(): Promise<void> };
    const report = await fsck(store as never);
    await store.close();
    return report;
  }

  const differs = ({ faults }: FsckReport): boolean =>
    faults.some(({ code }) => code === 'facts_differ');
  const leftOf = ({ notCompared }: FsckReport): Left =>
    Object.fromEntries(
      (notCompared?.examples ?? []).map(({ subject, version, readTo }) => [
        subject,
        [version, readTo],
      ]),
    );

  test('if all entries verify, all is compared, and an advanced version is found', async () => {
    const place = await told();
    expect(await checked(place)).toEqual(
      expect.not.objectContaining({ notCompared: expect.anything() }),
    );
    await change(place, "UPDATE fact_partition SET version = 2 WHERE subject = 'p2'");
    const report = await checked(place);
    expect([report.valid, differs(report), report.notCompared]).toEqual([false, true, undefined]);
  });

  describe.each(DAMAGE)('next to $what', ({ sql, left, isInDoubt, unknown }) => {
    test('partitions of its entries are named as not compared, and nothing differs', async () => {
      const place = await told();
      await change(place, ...sql);
      const report = await checked(place);
      expect([report.valid, differs(report), leftOf(report)]).toEqual([false, false, left]);
      expect(report.notCompared?.partitions).toBe(Object.keys(left).length);
    });

    test('a version that was set forward alone is found, in each partition', async () => {
      const place = await told();
      await change(place, ...sql);
      const advances = Object.entries(VERSIONS).flatMap(([subject, version]) =>
        [1, 3].map((by) => ({ subject, version, by, isFound: by > 1 || subject !== unknown })),
      );
      for (const { subject, version, by, isFound } of someOf(advances, (each) => each.isFound)) {
        await change(
          place,
          `UPDATE fact_partition SET version = ${version + by} WHERE subject = '${subject}'`,
        );
        const report = await checked(place);
        expect([subject, by, differs(report)]).toEqual([subject, by, isFound]);
        expect(subject in leftOf(report)).toBe(!isFound);
        await change(
          place,
          `UPDATE fact_partition SET version = ${version} WHERE subject = '${subject}'`,
        );
      }
    });

    test('a version advanced with its time is found unless unread entries fit it', async () => {
      const place = await told();
      await change(place, ...sql);
      // As many as can't be read, and more.
      for (const [by, isFound] of [
        [1, !isInDoubt],
        [4, true],
      ] as const) {
        const set = `version = ${VERSIONS.p2 + by}, latest = '2090-01-01T00:00:00.000000Z'`;
        await change(place, `UPDATE fact_partition SET ${set} WHERE subject = 'p2'`);
        const report = await checked(place);
        expect([by, differs(report), 'p2' in leftOf(report)]).toEqual([by, isFound, !isFound]);
        await change(
          place,
          `UPDATE fact_partition SET version = ${VERSIONS.p2} WHERE subject = 'p2'`,
        );
      }
    });
  });
});
