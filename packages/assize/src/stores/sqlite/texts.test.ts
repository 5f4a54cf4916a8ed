import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FactModel } from '@assize/testing/internal/fact-model.ts';
import { ALICE, changeOf, day, keyOfRow } from '@assize/testing/internal/fact-rows.ts';
import { interceptSql } from '@assize/testing/internal/intercept.ts';
import { batchOf } from '@assize/testing/internal/store-rows.ts';
import { rankedByText } from '@assize/testing/internal/text-model.ts';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { FactTextQuery, FactWrite } from '#ledger';
import { RankedRows } from './facts/ranked-rows.ts';
import { openSqlite } from './open.ts';
import type { SqliteStore } from './store.ts';

const { space } = ALICE;

/** More texts with one word than one search ranks. */
const TEXTS = 4_500;
const RANKED_MAX = 2_000;

/** The wanted texts, spread among the others. */
const KEPT = [3, 700, 2_100, 3_333, TEXTS - 1];

const folder = mkdtempSync(join(tmpdir(), 'assize-texts-'));
const model = new FactModel();
let store: SqliteStore;

beforeAll(async () => {
  store = await openSqlite({ path: join(folder, 'many.db'), durability: 'off' });
  const first = Array.from({ length: TEXTS }, (_, n) => {
    const subject = KEPT.includes(n) ? 'it' : `s ${n}`;
    const short = { valid_to: day(n === KEPT[1] ? 9 : 3) };
    const object = `common ${'filler '.repeat(n % 5)}${n % 3 === 0 ? 'common' : 'rare'}`;
    const row = { fact_id: `${n}`, object, lineage: `${n % 900}`, ...(n % 2 === 0 && short) };
    return changeOf({ ...ALICE, subject, predicate: `p ${n}` }, 1, n < 40 ? 5 : 10, [row]);
  });
  // Ends every version except those of the wanted texts.
  const second = first.flatMap(({ partition, insert }, n) =>
    KEPT.includes(n) ? [] : [changeOf(partition, 2, 20, [], insert.map(keyOfRow))],
  );
  for (const facts of [first, second]) await commit(facts);
  const ends = new Set(second.map(({ partition }) => JSON.stringify(partition)));
  model.rows = first.flatMap(({ partition, insert }) =>
    insert.map((row) =>
      ends.has(JSON.stringify(partition)) ? { ...row, system_time_end: day(20) } : row,
    ),
  );
  await store.textsToEmbed('any', space, 1);
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function commit(facts: readonly FactWrite[]): Promise<void> {
  expect(await store.commit({ ...batchOf([]), facts })).toEqual({ status: 'committed' });
}

/** The number of texts with rows that were read while `work` ran. */
async function looked(work: () => Promise<void>): Promise<number> {
  let count = 0;
  interceptSql((sql, proceed) => {
    if (sql.includes('FROM fact_text WHERE id')) count += 1;
    return proceed();
  });
  await work();
  vi.restoreAllMocks();
  return count;
}

test.each<[string, Omit<FactTextQuery, 'space' | 'text'>]>([
  ['what is believed now', { system: 'now' }],
  ['what was believed early', { system: day(6) }],
  ['what is so late, of what is believed now', { system: 'now', valid: day(8) }],
  ['one subject', { subject: 'it' }],
  ['one claim', { lineage: '77' }],
  ['nothing', { kind: 'audit' }],
])('if most texts of a word are excluded, the others are ranked: %s', async (_what, query) => {
  for (const text of ['common', 'rare', 'common rare', 'filler common']) {
    const asked = { space, text, limit: 100, ...query };
    const expected = rankedByText(model, asked);
    const count = await looked(async () => {
      expect(await store.factsByText(asked)).toEqual(expected);
    });
    expect(count).toBeLessThanOrEqual(RANKED_MAX + 100);
  }
});

test('texts queued for the index are among the matches', async () => {
  const late = changeOf({ ...ALICE, subject: 'late' }, 1, 30, [
    { fact_id: 'late', object: 'common common' },
  ]);
  await commit([late]);
  const found = await store.factsByText({ space, text: 'common', system: 'now' });
  expect(found.map(({ fact }) => fact.fact_id).sort()).toEqual(
    [...KEPT.map(String), 'late'].sort(),
  );
});

test('a branch without statements is answered without reading other branches', async () => {
  const count = await looked(async () => {
    expect(await store.factsByText({ space, branch: 'try', text: 'common' })).toEqual([]);
  });
  expect(count).toBe(0);
});

test('a branch that has said little costs no more than that', async () => {
  await commit([
    changeOf({ ...ALICE, branch: 'told' }, 1, 30, [{ fact_id: 'told', object: 'common' }]),
  ]);
  const count = await looked(async () => {
    const found = await store.factsByText({ space, branch: 'told', text: 'common' });
    expect(found.map(({ fact }) => fact.fact_id)).toEqual(['told']);
  });
  expect(count).toBeLessThanOrEqual(RANKED_MAX + 10);
});

test('a search for many words ranks its matches a few times, not once per word', async () => {
  const many = 'many';
  const first = Array.from({ length: 200 }, (_, n) =>
    changeOf({ ...ALICE, space: many, subject: `s ${n}` }, 1, 10, [
      { fact_id: `${n}`, object: `x${n} x${n % 7} y${n}` },
    ]),
  );
  await commit(first);
  const text = Array.from({ length: 200 }, (_, n) => `y${n}`).join(' ');
  const ranks = vi.spyOn(RankedRows.prototype, 'best');
  for (const query of [{ kind: 'audit' }, { valid: day(8) }, { limit: 3 }] as const) {
    const asked = { space: many, text: `${text} x1 x2`, ...query };
    expect(await store.factsByText(asked)).toEqual(rankedByText(modelOf(first), asked));
    expect(ranks.mock.calls.length).toBeLessThan(100);
    ranks.mockClear();
  }
});

test('by many words a text that has them all is read once, however long it is', async () => {
  const text = Array.from({ length: 300 }, (_, n) => `z${n}`).join(' ');
  const long = changeOf({ ...ALICE, space: 'long' }, 1, 10, [{ fact_id: 'long', object: text }]);
  await commit([long]);
  await store.textsToEmbed('any', 'long', 1);
  let count = 0;
  interceptSql((sql, proceed) => {
    if (sql.includes('words, length FROM fact_words')) count += 1;
    return proceed();
  });
  for (const query of [{}, { kind: 'audit' }] as const) {
    const asked = { space: 'long', text, ...query };
    expect(await store.factsByText(asked)).toEqual(rankedByText(modelOf([long]), asked));
  }
  expect(count).toBe(2);
});

function modelOf(facts: readonly FactWrite[]): FactModel {
  const made = new FactModel();
  made.rows = facts.flatMap(({ insert }) => insert);
  return made;
}
