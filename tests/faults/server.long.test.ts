/**
 * A server that goes away in mid-commit, an answer to COMMIT that never comes: the view of the
 * runtime's caller.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { interceptSql, sqliteError } from '../../packages/testing/src/intercept.ts';
import { allEntries } from '../support/ledger/desk.ts';
import {
  closedAfterEach,
  type Place,
  postgresPlace,
  sqlitePlaces,
} from '../support/ledger/stores.ts';
import {
  holdTable,
  type Loss,
  Relay,
  untilOneWaits,
  withPostgres,
} from '../support/postgres/index.ts';
import { begun, CallerReport, expectOnce, file, papersOf, processOver } from './callers.ts';

afterEach(() => vi.restoreAllMocks());

const UNTOLD = ['commit_unknown', 'store_unreachable'];
const ADVICE = /ook up the id|try again/;

withPostgres(
  'PostgreSQL',
  (postgres) => {
    const close = closedAfterEach();
    let relay: Relay;
    beforeAll(async () => {
      relay = await Relay.start(postgres.server.port);
    });
    afterAll(() => relay.stop());

    const newPlace = (): Place => postgresPlace(postgres, postgres.url(), close);

    describe('fault: the server stops in mid-commit: answers stay, retries add one', () => {
      test('while the append is under way', async () => {
        const place = newPlace();
        const trajectory = await begun(
          await place.open({ lockTimeoutMs: 60_000, statementTimeoutMs: 60_000 }),
        );
        const told = new CallerReport();
        const papers = papersOf(10);
        await holdTable(place.url, 'entry');
        const hearing = papers.map((paper) => told.hear(paper, file(trajectory, paper)));
        await untilOneWaits(postgres);
        await postgres.server.stop('immediate');
        await postgres.server.start();
        await Promise.all(hearing);
        expect(told.errors.length).toBeGreaterThan(0);
        told.expectErrors(UNTOLD, ADVICE);
        for (const paper of papers) await told.hear(paper, file(trajectory, paper));
        expect(told.errors).toEqual([]);
        await expectOnce(await place.open(), told, papers);
      });

      test('three times, during any operation', async () => {
        const place = newPlace();
        const trajectory = await begun(await place.open());
        const told = new CallerReport();
        const papers = papersOf(90);
        for (const round of [0, 1, 2]) {
          let heard = 0;
          const hearing = papers.slice(round * 30, round * 30 + 30).map(async (paper, n) => {
            // One after another, so that some are answered, one is in flight, and some are still to
            // come.
            while (heard < n) await new Promise(setImmediate);
            await told.hear(paper, file(trajectory, paper, 3_000));
            heard += 1;
          });
          while (heard < 5) await new Promise(setImmediate);
          await postgres.server.stop('immediate');
          await postgres.server.start();
          await Promise.all(hearing);
          told.expectErrors(UNTOLD, ADVICE);
        }
        for (const paper of papers) await told.hear(paper, file(trajectory, paper, 3_000));
        expect(told.errors).toEqual([]);
        await expectOnce(await place.open(), told, papers);
      });
    });

    describe('fault: the connection ends after COMMIT: resolved or an error, once', () => {
      test.each<[Loss, 'answered' | 'an error' | 'either']>([
        ['before', 'an error'],
        ['torn', 'an error'],
        ['under way', 'either'],
        ['answered', 'answered'],
        ['silence', 'answered'],
      ])('%s: %s', async (loss, outcome) => {
        const place = newPlace();
        await (await place.open()).close();
        const through = new URL(place.url);
        through.port = String(relay.port);
        const far = postgresPlace(postgres, through.href, close);
        const trajectory = await begun(await far.open({ statementTimeoutMs: 1_000 }));
        const told = new CallerReport();
        void relay.lose(loss);
        await told.hear('paper', file(trajectory, 'paper'));
        if (outcome !== 'either') expect(told.answered.size).toBe(outcome === 'answered' ? 1 : 0);
        expect(told.answered.size + told.errors.length).toBe(1);
        told.expectErrors(UNTOLD, ADVICE);
        await told.hear('paper', file(trajectory, 'paper'));
        await told.hear('paper', file(await processOver(await place.open()).open('t'), 'paper'));
        expect(told.errors).toEqual([]);
        await expectOnce(await place.open(), told, ['paper']);
      });
    });
  },
  { own: true },
);

describe('SQLite', () => {
  const newPlace = sqlitePlaces();

  test('fault: the answer to COMMIT is lost: an error, and one entry on a retry', async () => {
    const place = newPlace();
    const trajectory = await begun(await place.open());
    const told = new CallerReport();
    interceptSql((sql, proceed) => {
      const answer = proceed();
      if (sql === 'COMMIT') throw sqliteError(10);
      return answer;
    });
    await told.hear('paper', file(trajectory, 'paper'));
    await told.hear('paper', file(trajectory, 'paper'));
    vi.restoreAllMocks();
    expect(told.answered.size).toBe(0);
    told.expectErrors(['commit_unknown', 'store_poisoned'], /ook up the id|open the store again/);
    const store = await place.open();
    // It was there all the time.
    expect(await allEntries(store, 't')).toHaveLength(2);
    await told.hear('paper', file(await processOver(store).open('t'), 'paper'));
    expect(told.errors).toEqual([]);
    await expectOnce(store, told, ['paper']);
  });
});
