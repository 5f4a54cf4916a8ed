import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { integrateLog } from '#ledger';
import { verifyStore } from '#runtime';
import { openPostgres } from '../../packages/postgres/src/index.ts';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { cases } from '../support/cases.ts';
import { type TestPostgres, withPostgres } from '../support/postgres/index.ts';
import { CuttingRelay } from './cutting-relay.ts';
import { entriesOf, expectBlobs, expectSound } from './ledger-check.ts';
import { WriterProcess } from './writer-process.ts';

/** `ASSIZE_CRASH_SECONDS=3600` for a long night. */
const SECONDS = secondsWanted(process.env['ASSIZE_CRASH_SECONDS'] ?? cases(30));
const PROCESSES = 4;
const WRITERS = 4;
const SEED = Number(process.env['ASSIZE_SEED']);

/**
 * A run shows nothing unless some commits are in doubt. It continues until then, up to
 * `LENGTHS_MAX` times its length.
 */
const DOUBTS_MIN = 50;
const LENGTHS_MAX = 10;

/** Between two strikes at the server. */
const STRIKE_EVERY_MS_MAX = 300;
/** Of so many strikes, one takes the whole server down, for so long at most. */
const STRIKES_A_STOP = 40;
const DOWN_MS_MAX = 500;

const BACKENDS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'assize' ORDER BY pid";

function secondsWanted(wanted: string | number): number {
  const seconds = Number(wanted);
  if (Number.isSafeInteger(seconds) && seconds > 0) return seconds;
  throw new Error('ASSIZE_CRASH_SECONDS must be a whole number from 1');
}

withPostgres(
  'a server that is killed',
  (postgres) => {
    const title = `no answered entry is lost or doubled in ${SECONDS} seconds of cut connections, killed backends and stopped servers`;
    test(title, { timeout: (LENGTHS_MAX + 2) * SECONDS * 1_000 + 300_000 }, async () => {
      const url = postgres.url();
      await (await openPostgres({ url })).close();
      const relay = await CuttingRelay.start(postgres.server.port, SEED);
      onTestFinished(() => relay.stop());
      const through = new URL(url);
      through.port = String(relay.port);
      const processes = Array.from(
        { length: PROCESSES },
        (_, n) =>
          new WriterProcess(through.href, {
            name: `p${n}`,
            writers: WRITERS,
            program: 'server-writers.ts',
          }),
      );
      for (const [n, writers] of processes.entries()) await writers.go(SEED + n);
      for (const writers of processes) await writers.reach(1);

      relay.rage();
      const strikes = await strikeAgainAndAgain(
        postgres,
        () =>
          sum(processes, ({ settled }) => settled) >= DOUBTS_MIN &&
          Object.values(relay.counts).every(Boolean),
      );
      relay.calm();
      await Promise.all(processes.map((writers) => writers.stop()));
      // A line that is about to be closed needs a turn of the loop.
      while (relay.lines > 0 || (await postgres.query(BACKENDS)).length > 0) await sleep(10);

      const store = await openPostgres({ url, applicationName: 'witness' });
      const entries = await entriesOf(store);
      const report = expectSound(
        processes.flatMap(({ history }) => history),
        entries,
      );
      const ids = new Set(entries.map(({ id }) => id));
      for (const { sent } of processes) await expectBlobs(store, sent, (id) => ids.has(id));
      for (const { valid, fault } of await verifyStore(store))
        expect({ valid, fault }).toEqual({ valid: true });
      expect(await store.selfCheck()).toEqual([]);
      expect(await integrateLog(store)).toBe(entries.length);
      await store.close();

      const doubts = processes.flatMap(({ sent }) => sent.filter(({ wasInDoubt }) => wasInDoubt));
      const written = doubts.filter(({ result }) => result === 'committed').length;
      const { committed, failed, unknown } = report;
      const seen = {
        committed,
        failed,
        doubts: doubts.length,
        written,
        ...strikes,
        ...relay.counts,
      };
      console.info(`PostgreSQL, seed ${SEED}, ${SECONDS} s:`, seen);
      expect(unknown).toBe(0);
      expect(doubts.length).toBeGreaterThanOrEqual(DOUBTS_MIN);
      for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
    });
  },
  { own: true },
);

/** Until the time is over and enough has happened; or no more is to be expected. */
async function strikeAgainAndAgain(
  postgres: TestPostgres,
  isEnough: () => boolean,
): Promise<{ killed: number; stopped: number }> {
  const next = seededNumbers(SEED);
  const strikes = { killed: 0, stopped: 0 };
  const startedAt = performance.now();
  const lengths = (): number => (performance.now() - startedAt) / 1_000 / SECONDS;
  while (lengths() < 1 || (!isEnough() && lengths() < LENGTHS_MAX)) {
    await sleep(next(STRIKE_EVERY_MS_MAX));
    // The first one of a run is sure.
    if (strikes.stopped === 0 || next(STRIKES_A_STOP) === 0) {
      await postgres.server.stop('immediate');
      await sleep(next(DOWN_MS_MAX));
      await postgres.server.start();
      strikes.stopped += 1;
    } else {
      const backends = await postgres.query(BACKENDS);
      if (backends.length === 0) continue;
      const { pid } = backends[next(backends.length)]!;
      const [row] = await postgres.query('SELECT pg_terminate_backend($1) AS there', [pid]);
      if (row!['there'] === true) strikes.killed += 1;
    }
  }
  return strikes;
}

function sum<T>(all: readonly T[], count: (one: T) => number): number {
  return all.reduce((total, one) => total + count(one), 0);
}
