import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { EntryRow } from '#ledger';
import { openSqlite } from '#stores';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import type { Operation } from '../../packages/testing/src/history.ts';
import { bundled } from '../support/bundled.ts';
import { cases } from '../support/cases.ts';
import { entriesOf, expectBlobs, expectSound } from './ledger-check.ts';
import { type Sent, WriterProcess } from './writer-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-kill-'));
afterAll(() => rmSync(folder, { recursive: true }));

const program = await bundled(join(import.meta.dirname, 'writers.ts'));

/** `ASSIZE_CRASH_ROUNDS=20000` for a long night. */
const ROUNDS = roundsWanted(process.env['ASSIZE_CRASH_ROUNDS'] ?? cases(200));
/**
 * Rounds on one ledger. Each round reads the whole ledger again at its opening. This soon takes
 * the most time if rounds are many.
 */
const ROUNDS_A_LEDGER = 50;
const WRITERS = 4;
const SEED = Number(process.env['ASSIZE_SEED']);

/** A run shows nothing unless some batches are in doubt. */
const DOUBTS_MIN = Math.min(50, ROUNDS / 4);
const HITS_MIN = ROUNDS / 2;

function roundsWanted(wanted: string | number): number {
  const rounds = Number(wanted);
  if (Number.isSafeInteger(rounds) && rounds > 0) return rounds;
  throw new Error('ASSIZE_CRASH_ROUNDS must be a whole number from 1');
}

/** The known content of one ledger over all its rounds. */
class Ledger {
  readonly path: string;
  readonly history: Operation[] = [];
  readonly #entries = new Map<string, EntryRow[]>();
  readonly #ids = new Set<string>();

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Records the history of the process and checks the file: the new entries, and that the old ones
   * are where they were.
   */
  async take(writers: WriterProcess, mode: 'create' | 'readonly'): Promise<void> {
    this.history.push(...writers.history);
    const store = await openSqlite({ path: this.path, mode });
    try {
      const lengths = new Map([...this.#entries].map(([name, rows]) => [name, rows.length]));
      for (const row of await entriesOf(store, lengths)) this.#add(row);
      for (const batch of writers.sent)
        await this.#settle(batch, async (id) => (await store.resolve(id)) !== undefined);
      await expectBlobs(store, writers.sent, (id) => this.#ids.has(id));
    } finally {
      await store.close();
    }
  }

  /** Everything read again, and the whole history. */
  async finish(): Promise<ReturnType<typeof expectSound>> {
    const store = await openSqlite({ path: this.path });
    const entries = await entriesOf(store);
    await store.close();
    expect(entries.length).toBe(this.#ids.size);
    expect(
      entries.filter((row) => this.#entries.get(row.trajectory_id)![row.seq]!.id !== row.id),
    ).toEqual([]);
    return expectSound(this.history, entries);
  }

  #add(row: EntryRow): void {
    const chain = this.#entries.get(row.trajectory_id) ?? [];
    this.#entries.set(row.trajectory_id, chain);
    if (row.seq === chain.length - 1) {
      expect(row).toEqual(chain.at(-1));
    } else {
      expect({ seq: row.seq, parent: row.parent }).toEqual({
        seq: chain.length,
        parent: chain.at(-1)?.id ?? null,
      });
      chain.push(row);
      this.#ids.add(row.id);
    }
  }

  /** Called after each round, and not only after the last: the kill at fault is then known. */
  async #settle({ ids, result }: Sent, resolve: (id: string) => Promise<boolean>): Promise<void> {
    const there = ids.filter((id) => this.#ids.has(id)).length;
    const right =
      result === 'committed'
        ? there === ids.length
        : result === 'failed'
          ? there === 0
          : there % ids.length === 0;
    if (!right)
      throw new Error(
        `${there} of ${ids.length} entries are there of a batch that is ${result}: ${ids}`,
      );
    if (result === 'unknown') expect(await resolve(ids[0]!)).toBe(there > 0);
  }
}

const TITLE = `no answered entry is lost, doubled or torn in ${ROUNDS} rounds of kill -9`;
test(TITLE, { timeout: 300_000 + ROUNDS * 3_000 }, async () => {
  const next = seededNumbers(SEED);
  const total = { committed: 0, failed: 0, unknown: 0, unknownWritten: 0, hits: 0 };
  for (let begun = 0; begun < ROUNDS; begun += ROUNDS_A_LEDGER) {
    const ledger = new Ledger(join(folder, `${begun}.db`));
    const hits = await killAgainAndAgain(
      ledger,
      begun,
      Math.min(ROUNDS_A_LEDGER, ROUNDS - begun),
      next,
    );
    const counts = { ...(await ledger.finish()), hits };
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counts[name];
    rmSync(ledger.path, { force: true });
  }
  console.info(`kill -9, ${ROUNDS} rounds:`, total);
  expect(total.hits).toBeGreaterThanOrEqual(HITS_MIN);
  expect(total.unknown).toBeGreaterThanOrEqual(DOUBTS_MIN);
  expect(total.committed).toBeGreaterThan(ROUNDS);
  expect(total.failed).toBeGreaterThan(ROUNDS);
});

/** The number of rounds in which something was under way. */
async function killAgainAndAgain(
  ledger: Ledger,
  begun: number,
  rounds: number,
  next: (below: number) => number,
): Promise<number> {
  let hits = 0;
  const start = (round: number): WriterProcess =>
    new WriterProcess(ledger.path, {
      name: `p${begun + round}`,
      writers: WRITERS,
      program,
      cache: join(folder, 'cache'),
    });
  await start(-1).dismiss();
  // The next process starts while this one is killed and its ledger is looked at.
  const ready = [start(0), start(1)];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const writers = ready.shift()!;
      ready.push(start(round + 2));
      await writers.go(SEED + begun + round);
      await killSomewhere(writers, next);
      if (writers.sent.some(({ result }) => result === 'unknown')) hits += 1;
      // A reader must cope with the files of a killed process as well as a writer.
      await ledger.take(writers, next(4) === 0 && round > 0 ? 'readonly' : 'create');
    }
  } finally {
    for (const spare of ready) await spare.dismiss();
  }
  return hits;
}

/** Some while it opens the store, most while it writes. */
async function killSomewhere(
  writers: WriterProcess,
  next: (below: number) => number,
): Promise<void> {
  const opening = next(10) === 0;
  const commits = next(100);
  const microseconds = next(10_000);
  if (!opening) await writers.reach(commits);
  await sleep(microseconds / 1_000);
  await writers.kill();
}
