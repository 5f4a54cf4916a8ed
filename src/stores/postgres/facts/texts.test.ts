import { expect, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { ALICE, changeOf } from '../../../testing/fact-rows.ts';
import { batchOf } from '../../../testing/store-rows.ts';
import { loadDriver } from '../connection/driver.ts';
import { Session } from '../connection/session.ts';
import { openPostgres } from '../index.ts';
import { indexTexts, PAGE_BYTES, wordsAnew } from './texts.ts';

const MIB = 2 ** 20;

withPostgres('texts of facts', (postgres) => {
  test('that are large are read a few at a time where all are indexed, and all of them are', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    const large = 12;
    // Small ones between them.
    for (let n = 0; n < large; n++) {
      const said = [
        { fact_id: `large ${n}`, object: `large ${n} `.padEnd(MIB, 'x ') },
        { fact_id: `small ${n}`, object: `small ${n}` },
      ];
      const facts = said.map((row, i) => changeOf({ ...ALICE, subject: `${n} ${i}` }, 1, 10, [row]));
      expect(await store.commit({ ...batchOf([]), facts })).toEqual({ status: 'committed' });
    }
    const session = await Session.open({
      driver: await loadDriver(),
      url: url.slice(0, url.indexOf('?')),
      path: '',
      applicationName: 'test',
      connectTimeoutMs: 10_000,
      lockTimeoutMs: 10_000,
      statementTimeoutMs: 60_000,
    });
    const schema = postgres.schemaOf(url);
    const pages: number[] = [];
    const run = session.run.bind(session);
    session.run = async (...asked) => {
      const rows = await run(...asked);
      pages.push(rows.flat().reduce((bytes, value) => bytes + (value?.length ?? 0), 0));
      return rows;
    };
    const wordsOfAll = `SELECT key, content, audit, day, length, words::text FROM "${schema}".fact_text ORDER BY key, content`;
    const before = await postgres.query(wordsOfAll);
    expect(before).toHaveLength(2 * large);
    await postgres.query(`TRUNCATE "${schema}".fact_text CASCADE`);
    await indexTexts(session, schema);
    expect(await postgres.query(wordsOfAll)).toEqual(before);
    await postgres.query(`UPDATE "${schema}".fact_text SET words = '', length = 0`);
    await wordsAnew(session, schema);
    expect(await postgres.query(wordsOfAll)).toEqual(before);
    expect(pages.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(2 * large * MIB);
    // With the one more, and names and numbers of rows.
    expect(Math.max(...pages)).toBeLessThan(PAGE_BYTES + 1.1 * MIB);
    await session.end();
    await store.close();
  });
});
