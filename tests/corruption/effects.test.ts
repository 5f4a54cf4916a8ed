/** The effect log changed by hand next to an untouched ledger: `verify` compares the two. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { MemoryStore } from '@assize/testing/memory';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportLines, importLines } from '#export';
import { integrateLog, type LedgerStore, type LogStore } from '#ledger';
import { isForeignEntry, verifyStore } from '#runtime';
import { openSqlite } from '#stores';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { openUnguarded } from '../support/ledger/unguarded.ts';
import { runCommand } from '../support/process/command.ts';
import { type Fault, OutsideSink, Steps, tally, toolFor } from '../support/tools/effect-sink.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-effects-'));
const whole = join(folder, 'whole.db');
const changed = join(folder, 'changed.db');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * The epoch of each transaction, by the name of its trajectory: one is settled, one in doubt, one
 * was compensated, one must still be compensated.
 */
const EPOCH = { settled: 1, doubt: 2, thrown: 3, stuck: 4 };

beforeAll(async () => {
  const store = await openSqlite({ path: whole });
  const writ = writFor('alice');
  for (const [trajectoryId, faults] of Object.entries<readonly Fault[]>({
    settled: [],
    doubt: ['none', 'lose', 'lose', 'lose'],
    thrown: [],
    stuck: ['none', 'fail_for_good'],
  })) {
    const left = [...faults];
    const outside = {
      sink: new OutsideSink('blind'),
      steps: new Steps(),
      fault: () => left.shift() ?? 'none',
    };
    const tools = [
      toolFor(outside, 'reversible', 'externalised'),
      toolFor(outside, 'irreversible', 'buffered'),
    ];
    const assize = runtimeOver(store, [tally], { tools, effects: { maxAttempts: 1 } });
    const trajectory = await assize.create(tally, { trajectoryId });
    const claims = { writes: [`test:${trajectoryId}`] };
    await trajectory
      .transaction({ writ, ...claims, name: trajectoryId, retries: 0 }, async (tx) => {
        const at = trajectoryId;
        await tx.call('reversible.externalised', { what: 'acted', at });
        await tx.call('irreversible.buffered', { what: 'held', at });
        if (trajectoryId === 'thrown' || trajectoryId === 'stuck')
          throw new Error('it is not to be');
        tx.propose({ action: 'count', role: 'counter', args: trajectoryId });
      })
      .catch((error: Error) => expect(error.message).toBe('it is not to be'));
    await assize.close();
  }
  await store.close();
});

/** The faults that `verify` reports for a copy changed with SQL, by trajectory. */
async function foundAfter(change: (db: DatabaseSync) => void): Promise<Record<string, string>> {
  copyFileSync(whole, changed);
  const db = openUnguarded(changed);
  change(db);
  db.close();
  const store = await openSqlite({ path: changed });
  try {
    const reports = await verifyStore(store);
    expect(reports.filter(({ valid }) => !valid).map(({ fault }) => fault?.code)).toEqual(
      reports.flatMap(({ fault }) => (fault === undefined ? [] : 'effects_differ')),
    );
    return Object.fromEntries(
      reports.flatMap(({ fault: at }) => (at === undefined ? [] : [[at.trajectory_id, at.detail]])),
    );
  } finally {
    await store.close();
  }
}

const sql = (text: string) => (db: DatabaseSync) => void db.exec(text);

/** Rewrites all that was written of a transaction, wherever that stands. */
const rewrite = (epoch: number, from: RegExp, to: string) => (db: DatabaseSync) => {
  let times = 0;
  const rewritten = (text: string): string =>
    text.replaceAll(new RegExp(from, 'g'), () => {
      times += 1;
      return to;
    });
  for (const [table, column] of [
    ['effect_transaction', 'first'],
    ['effect_record', 'record'],
  ] as const) {
    const by = table === 'effect_record' ? 'place' : 'epoch';
    const all = db.prepare(
      `SELECT ${by} AS at, ${column} AS text FROM ${table} WHERE epoch = ? AND ${column} IS NOT NULL`,
    );
    for (const { at, text } of all.all(epoch) as { at: number; text: string }[])
      db.prepare(`UPDATE ${table} SET ${column} = ? WHERE epoch = ? AND ${by} = ?`).run(
        rewritten(text),
        epoch,
        at,
      );
  }
  expect(times).toBeGreaterThan(0);
};

const dropped = (epoch: number): string =>
  ['open', 'record', 'key', 'transaction']
    .map((table) => `DELETE FROM effect_${table} WHERE epoch = ${epoch};`)
    .join(' ');
const ended = (epoch: number): string => `DELETE FROM effect_open WHERE epoch = ${epoch};`;

describe('the effect log changed by hand', () => {
  test('as it was made it passes', async () => {
    expect(await foundAfter(() => undefined)).toEqual({});
  });

  const { settled, doubt, thrown, stuck } = EPOCH;
  const last = `place = (SELECT max(place) FROM effect_record WHERE epoch = ${doubt}) AND epoch = ${doubt}`;
  const cases: [string, (db: DatabaseSync) => void, string, RegExp][] = [
    [
      'what is in doubt is said to be applied, and all settled',
      sql(
        `UPDATE effect_record SET record = '[{"is":"applied","n":1},{"is":"settled"}]' WHERE ${last}; ${ended(doubt)}`,
      ),
      'doubt',
      /its transaction has ended, and no entry settles it/,
    ],
    [
      'the same, and it is left open',
      sql(
        `UPDATE effect_record SET record = '[{"is":"applied","n":1},{"is":"settled"}]' WHERE ${last}`,
      ),
      'doubt',
      /is pending \(in_doubt\), but the effect is applied in the effect log/,
    ],
    [
      'it is refused and not in doubt',
      rewrite(doubt, /"is":"in_doubt"/, '"is":"unresolved"'),
      'doubt',
      /is unresolved in the effect log/,
    ],
    [
      'its transaction is deleted',
      sql(dropped(doubt)),
      'doubt',
      /the effect log has no transaction of the commit/,
    ],
    [
      'what came after the commit is deleted',
      (db) => {
        const rows = db
          .prepare('SELECT place, record FROM effect_record WHERE epoch = ? ORDER BY place')
          .all(doubt);
        const at = rows.find(({ record }) => String(record).includes('"is":"committed"'))![
          'place'
        ] as number;
        db.prepare('DELETE FROM effect_record WHERE epoch = ? AND place > ?').run(doubt, at);
      },
      'doubt',
      /is due in the effect log/,
    ],
    ['it is not open any more', sql(ended(doubt)), 'doubt', /is committed but not listed as open/],
    [
      'the commit is deleted too',
      sql(`DELETE FROM effect_record WHERE epoch = ${doubt}`),
      'doubt',
      /is open in the effect log, but this entry commits it/,
    ],
    [
      'its key is another one',
      rewrite(doubt, /"key":"[0-9a-f]{64}"/, `"key":"${'a'.repeat(64)}"`),
      'doubt',
      /has other effects than/,
    ],
    [
      'its entry is another one',
      rewrite(doubt, /"entry":"[0-9a-f]{64}"/, `"entry":"${'b'.repeat(64)}"`),
      'doubt',
      /.*/,
    ],
    [
      'a record is invalid',
      rewrite(doubt, /"is":"in_doubt"/, '"is" :"in_doubt"'),
      'doubt',
      /cannot be parsed/,
    ],
    [
      'what was settled as applied was not',
      rewrite(settled, /"is":"applied"/, '"is":"accepted"'),
      'settled',
      /is accepted in the effect log, but was settled as applied/,
    ],
    [
      'the key of what was settled is another one',
      rewrite(settled, /"key":"[0-9a-f]{64}"/, `"key":"${'a'.repeat(64)}"`),
      'settled',
      /has other effects than/,
    ],
    [
      'the entry of what was settled is another one',
      rewrite(settled, /"entry":"[0-9a-f]{64}"/, `"entry":"${'b'.repeat(64)}"`),
      'settled',
      /is not a commit of this trajectory/,
    ],
    [
      'what was undone is said to stand',
      rewrite(thrown, /"is":"undone"/, '"is":"dropped"'),
      'thrown',
      /has other effects than this entry lists/,
    ],
    [
      'what is to be undone is said to be',
      sql(`UPDATE effect_record SET record = '[{"is":"undone","n":0},{"is":"aborted"}]'
        WHERE epoch = ${stuck} AND place = (SELECT max(place) FROM effect_record WHERE epoch = ${stuck}); ${ended(stuck)}`),
      'stuck',
      /but no entry lists its effects|is pending \(unresolved\), but/,
    ],
  ];
  test.each(cases)('%s', async (_, change, trajectory, detail) => {
    const found = await foundAfter(change);
    expect(Object.keys(found)).toEqual([trajectory]);
    expect(found[trajectory]).toMatch(detail);
  });

  test('the whole log is deleted, but not that there was one', async () => {
    const found = await foundAfter(sql([settled, doubt, thrown, stuck].map(dropped).join(' ')));
    expect(found).toEqual({
      doubt: expect.stringContaining(
        '2 effects of this commit are not settled, but the effect log has no transaction',
      ),
      stuck: expect.stringContaining('is pending, but the effect log has no such transaction'),
    });
  });

  test('the command ends with 1, and says where', async () => {
    await foundAfter(sql(dropped(doubt)));
    const { code, out } = await runCommand(folder, `sqlite:${changed}`, 'verify');
    expect(code).toBe(1);
    expect(out).toMatch(
      /doubt .*seq 1: 2 effects of this commit are not settled.*\(effects_differ\)/,
    );
    expect(out).toContain('3 of 4 trajectories are valid');
  });
});

/** The export lines of a store, or of its first entries. */
async function* linesOf(store: LedgerStore & LogStore, size?: number): AsyncGenerator<string> {
  await integrateLog(store);
  for await (const text of exportLines(store, size === undefined ? {} : { size }))
    yield text.trimEnd();
}

const invalid = async (store: LedgerStore): Promise<Record<string, string | undefined>> =>
  Object.fromEntries(
    (await verifyStore(store)).flatMap(({ trajectory_id, fault }) =>
      fault === undefined ? [] : [[trajectory_id, `${fault.code}: ${fault.detail}`]],
    ),
  );

describe('a ledger that was imported with effects that are not settled', () => {
  test('into a store without an effect log: nothing is missing', async () => {
    const store = await openSqlite({ path: whole });
    const copy = new MemoryStore();
    expect((await importLines(copy, linesOf(store))).imported).toBeGreaterThan(4);
    await store.close();
    expect(await invalid(copy)).toEqual({});
    // Nor when it comes to have one.
    await (await copy.leaseEffects()).release();
    expect(await invalid(copy)).toEqual({});
  });

  test('into its own store: its effects exist and do not count as imported', async () => {
    copyFileSync(whole, changed);
    const store = await openSqlite({ path: changed });
    expect((await importLines(store, linesOf(store))).imported).toBe(0);
    await store.close();
    const db = openUnguarded(changed);
    db.exec(dropped(EPOCH.doubt));
    db.close();
    const again = await openSqlite({ path: changed });
    expect(Object.keys(await invalid(again))).toEqual(['doubt']);
    await again.close();
  });

  describe('into a store with effects of its own', () => {
    const own = join(folder, 'own.db');

    /**
     * A store with the trajectory `here` and its effect in doubt. The store continues
     * `thrown`, with transactions of the same epochs in its source store.
     */
    beforeAll(async () => {
      const store = await openSqlite({ path: own });
      const from = await openSqlite({ path: whole });
      // Cut off, and made again: then it goes on one by one.
      await importLines(store, linesOf(from, 2));
      await importLines(store, linesOf(from));
      await from.close();
      const [root] = await store.entries('thrown', { limit: 1 });
      await store.adopt({ at: '2026-03-23T09:00:00.000000Z', reason: 'moved', roots: [root!.id] });
      const fault = (_: unknown, what: string): Fault => (what === 'lost' ? 'lose' : 'none');
      const outside = { sink: new OutsideSink('blind'), steps: new Steps(), fault };
      const tools = [toolFor(outside, 'irreversible', 'buffered')];
      const assize = runtimeOver(store, [tally], { tools, effects: { maxAttempts: 1 } });
      const writ = writFor('alice');
      const here = await assize.create(tally, { trajectoryId: 'here' });
      const thrown = await assize.open('thrown');
      for (const trajectory of [thrown, thrown, thrown, here])
        await trajectory.transaction({ writ, writes: ['test:**'], retries: 0 }, async (tx) => {
          await tx.call('irreversible.buffered', { what: trajectory === here ? 'lost' : 'held' });
          tx.propose({ action: 'count', role: 'counter', args: 'x' });
        });
      await assize.close();
      await store.close();
    });

    const foundIn = async (
      change: (db: DatabaseSync) => void,
    ): Promise<Record<string, string | undefined>> => {
      copyFileSync(own, changed);
      const db = openUnguarded(changed);
      change(db);
      db.close();
      const store = await openSqlite({ path: changed });
      try {
        return await invalid(store);
      } finally {
        await store.close();
      }
    };

    test('only local effects are expected in the store’s effect log', async () => {
      expect(await foundIn(() => undefined)).toEqual({});
    });

    test('a deleted local effect is found, even in a foreign trajectory', async () => {
      expect(
        await foundIn(
          sql(`DELETE FROM effect_transaction; DELETE FROM effect_open; DELETE FROM effect_record`),
        ),
      ).toEqual({
        here: expect.stringContaining(
          '1 effects of this commit are not settled, but the effect log has no transaction',
        ),
      });
    });

    test('without exact marks, imported effects are reported as missing', async () => {
      const imported = {
        doubt: expect.stringContaining('effects_differ'),
        stuck: expect.stringContaining('effects_differ'),
        // Its epochs are taken for those of transactions here.
        thrown: expect.stringContaining('has other effects than this entry lists'),
      };
      expect(await foundIn(sql("DELETE FROM blob WHERE text LIKE 'imported %'"))).toEqual(imported);
      expect(
        await foundIn(sql("UPDATE blob SET text = 'imported' WHERE text LIKE 'imported %'")),
      ).toEqual(imported);
    });

    test('a repeated import can mark earlier imports, but never local effects', async () => {
      const unmarked = "DELETE FROM blob WHERE text LIKE 'imported %'";
      await foundIn(sql(unmarked));
      const store = await openSqlite({ path: changed });
      const from = await openSqlite({ path: whole });
      const again = { cameBefore: isForeignEntry(store) };
      expect((await importLines(store, linesOf(from))).marked).toBe(0);
      expect(Object.keys(await invalid(store))).toEqual(['doubt', 'thrown', 'stuck']);
      const { imported, marked } = await importLines(store, linesOf(from), again);
      expect([imported, marked > 3]).toEqual([0, true]);
      await from.close();
      expect(await invalid(store)).toEqual({});
      // Also by its own export. Its log has what was made here.
      expect(await importLines(store, linesOf(store), again)).toMatchObject({
        imported: 0,
        marked: 0,
      });
      expect(await invalid(store)).toEqual({});
      await store.close();
      // The loss of local effects is found, as before.
      const db = openUnguarded(changed);
      db.exec('DELETE FROM effect_transaction; DELETE FROM effect_open; DELETE FROM effect_record');
      db.close();
      const lost = await openSqlite({ path: changed });
      expect(Object.keys(await invalid(lost))).toEqual(['here']);
      await lost.close();
    });

    test('the command marks them with --mark', async () => {
      await foundIn(sql("DELETE FROM blob WHERE text LIKE 'imported %'"));
      const lines = join(folder, 'whole.jsonl');
      const from = await openSqlite({ path: whole });
      const texts: string[] = [];
      for await (const text of linesOf(from)) texts.push(`${text}\n`);
      await from.close();
      writeFileSync(lines, texts.join(''));
      const { code, out } = await runCommand(
        folder,
        `sqlite:${changed}`,
        'import',
        lines,
        '--mark',
      );
      expect([code, out]).toEqual([0, expect.stringMatching(/Marked \d+ existing entr/)]);
    });

    test('a forged mark on a local effect is found unless the log loses it too', async () => {
      const forged = (db: DatabaseSync): void => {
        const [{ id }] = db
          .prepare(
            'SELECT lower(hex(id)) AS id FROM entry WHERE payload LIKE \'%"effects":[{%\' AND payload LIKE \'%"trajectory_id":"here"%\'',
          )
          .all() as [{ id: string }];
        const text = `imported ${id}`;
        db.prepare('INSERT INTO blob (hash, text) VALUES (?, ?)').run(
          createHash('sha256').update(text).digest(),
          text,
        );
      };
      expect(await foundIn(forged)).toEqual({
        here: expect.stringContaining(
          'is committed with this entry, which is recorded as imported',
        ),
      });
    });
  });
});

test('a trajectory only in the effect log is reported if all are verified', async () => {
  const gone = sql(`
    DELETE FROM log WHERE entry IN (SELECT position FROM entry WHERE payload LIKE '%"trajectory_id":"thrown"%');
    DELETE FROM entry WHERE payload LIKE '%"trajectory_id":"thrown"%'`);
  expect(await foundAfter(gone)).toEqual({
    thrown:
      'the effect log has transactions of this trajectory (1), but the ledger has no such trajectory',
  });
  const store = await openSqlite({ path: changed });
  expect(
    (await verifyStore(store, { trajectoryIds: ['settled'] })).map(({ valid }) => valid),
  ).toEqual([true]);
  await store.close();
});
