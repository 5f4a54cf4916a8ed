import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { openSqlite, type SqliteStore } from '#stores';
import { keyOf, loggedOf, writeOf } from '../../packages/testing/src/effect-rows.ts';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { bundled } from '../support/bundled.ts';
import { cases } from '../support/cases.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-effects-kill-'));
afterAll(() => rmSync(folder, { recursive: true }));

const WRITERS_PROGRAM = await bundled(join(import.meta.dirname, 'effect-writers.ts'));
const WRITERS = 4;
/** A tenth of the rounds of appends: `ASSIZE_CRASH_ROUNDS`. */
const ROUNDS = Math.ceil(Number(process.env['ASSIZE_CRASH_ROUNDS'] ?? cases(200)) / 10);

/** The output of a process about one transaction before the kill. */
interface Said {
  readonly entry: string;
  answer: 'none' | 'committed' | 'ended';
}

/**
 * Runs a process and kills it after `answers` answers: on the next entry that it sends, or on the
 * next answer.
 */
async function live(
  path: string,
  answers: number,
  on: 'sent' | 'answer',
): Promise<{ fence: number; lastEpoch: number; said: Map<number, Said> }> {
  const child = spawn(process.execPath, [WRITERS_PROGRAM, path, String(WRITERS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const said = new Map<number, Said>();
  let [fence, lastEpoch, heard] = [0, 0, 0];
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => {
    const [word, first, second] = line.split(' ') as [string, string, string];
    if (word === 'held') [fence, lastEpoch] = [Number(first), Number(second)];
    else if (word === 'sent') said.set(Number(first), { entry: second, answer: 'none' });
    else if (word === 'committed' || word === 'ended') said.get(Number(first))!.answer = word;
    else throw new Error(`it said: ${line}`);
    heard += word === 'sent' ? 0 : 1;
    if (heard > answers && (word === 'sent') === (on === 'sent')) child.kill('SIGKILL');
  });
  await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  expect(child.signalCode).toBe('SIGKILL');
  return { fence, lastEpoch, said };
}

/**
 * Answered entries exist, and unanswered ones exist wholly or not at all. Returns true if the entry
 * exists.
 */
async function expectWhole(
  store: SqliteStore,
  epoch: number,
  { entry, answer }: Said,
): Promise<boolean> {
  const [row, logged, key] = [
    await store.resolve(entry),
    await store.effectsOf(epoch),
    await store.effectKey(keyOf(epoch).key),
  ];
  const isThere = row !== undefined;
  if (answer !== 'none') expect({ epoch, isThere }).toEqual({ epoch, isThere: true });
  expect(key).toEqual(isThere ? keyOf(epoch) : undefined);
  const records =
    answer === 'ended' || logged?.records.length === 2 ? ['begun', 'settled'] : ['begun'];
  expect(logged).toEqual(isThere ? loggedOf(epoch, records) : undefined);
  return isThere;
}

test(`after a kill the lease is free and fenced, answers stay, ${ROUNDS} times`, {
  timeout: 600_000 + ROUNDS * 10_000,
}, async () => {
  const path = join(folder, 'killed.db');
  const next = seededNumbers(20_260_324);
  const total = { answered: 0, doubts: 0 };
  let [lastFence, lastEpoch] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const life = await live(path, next(200), round % 2 === 0 ? 'sent' : 'answer');
    expect(life.fence).toBeGreaterThan(lastFence);
    expect(life.lastEpoch).toBe(lastEpoch);
    const store = await openSqlite({ path });
    const tenure = await store.leaseEffects();
    expect(tenure.fence).toBe(life.fence + 1);
    expect(await store.logEffects(writeOf(life.fence, tenure.lastEpoch + 1))).toEqual({
      status: 'fenced',
    });
    const there: number[] = [];
    for (const [epoch, said] of life.said) {
      if (await expectWhole(store, epoch, said)) there.push(epoch);
      if (said.answer === 'none') total.doubts += 1;
      else total.answered += 1;
    }
    expect(tenure.lastEpoch).toBe(Math.max(life.lastEpoch, ...there));
    const open = await store.openEffects();
    for (const { epoch, records } of open) {
      expect(life.said.get(epoch)?.answer).not.toBe('ended');
      expect(records).toEqual(['begun']);
    }
    // The next lease holder resumes the open transactions.
    await store.logEffects({ fence: tenure.fence, ended: open.map(({ epoch }) => epoch) });
    // The records of this test are not real records, so none has the keys.
    const faults = (await store.selfCheck()).filter((fault) => !fault.includes('in no record'));
    expect(faults).toEqual([]);
    await store.close();
    [lastFence, lastEpoch] = [tenure.fence, tenure.lastEpoch];
  }
  expect(total.answered).toBeGreaterThan(ROUNDS);
  // A run shows nothing unless some transactions are in doubt.
  expect(total.doubts).toBeGreaterThan(0);
});
