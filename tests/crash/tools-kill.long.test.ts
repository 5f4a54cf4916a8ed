import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '#stores';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { bundled } from '../support/bundled.ts';
import { cases } from '../support/cases.ts';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { withPostgres } from '../support/postgres/index.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import { tally } from '../support/tools/effect-sink.ts';
import { Outside } from './outside.ts';
import type { ProcessLine } from './tools-orders.ts';

/** `ASSIZE_CRASH_EFFECTS=500` for a long night. */
const ROUNDS = Number(process.env['ASSIZE_CRASH_EFFECTS'] ?? Math.max(3, cases(12)));
const SEED = Number(process.env['ASSIZE_SEED']);
/** Orders that a process may get done before it is killed, at most. */
const ORDERS_A_ROUND = 40;
const LIFE_MS_MAX = 120;

const program = await bundled(join(import.meta.dirname, 'tools-process.ts'));

/** One life of the process; killed so long after it has recovered, or let live. */
async function life(args: readonly string[], lifeMs: number | undefined): Promise<ProcessLine[]> {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const told: ProcessLine[] = [];
  const exited = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    told.push(JSON.parse(line) as ProcessLine);
    if (lifeMs !== undefined && told.length === 1)
      void sleep(lifeMs).then(() => child.kill('SIGKILL'));
  }
  const [code] = await exited;
  if (lifeMs === undefined) expect(code).toBe(0);
  return told;
}

/** `beside`: number of concurrent processes on the same orders, each killed at its time. */
async function killAgainAndAgain(url: string, beside = 1): Promise<void> {
  const outside = new Outside();
  const port = await outside.listen();
  onTestFinished(() => outside.close());
  const begun = await openStore(url);
  await runtimeOver(begun, [tally]).create(tally, { trajectoryId: 't' });
  await begun.close();
  const next = seededNumbers(SEED);
  let from = 0;
  const done = new Map<string, string>();
  for (let round = 0; round < ROUNDS; round++) {
    const args = [url, port, String(from), String(from + ORDERS_A_ROUND)];
    const told = await Promise.all(
      Array.from({ length: beside }, () => life(args, next(LIFE_MS_MAX * beside))),
    );
    for (const each of told.flat()) if ('order' in each) done.set(each.order, each.ruling);
    from = Math.max(
      0,
      Math.max(from, ...[...done.keys()].map((order) => Number(order.slice(6)))) - 5,
    );
  }
  const to = from + 10;
  const told = await life([url, port, '0', String(to)], undefined);
  const left = told.flatMap((each) => ('left' in each ? each.left : []));

  const store = await openStore(url);
  const entries = [];
  for (let at = 0; ; ) {
    const page = await store.entries('t', { from: at });
    if (page.length === 0) break;
    entries.push(...page);
    at += page.length;
  }
  const tenure = await store.leaseEffects();
  await tenure.release();
  await expectEffectLogMatches(store, 't', left, tenure.lastEpoch);
  await store.close();
  const committed = new Map<string, number>();
  for (const { kind, payload } of entries) {
    if (kind !== 'commit' || payload.includes('"name":"assize.settle"')) continue;
    const order = JSON.parse(payload).action.args as string;
    committed.set(order, (committed.get(order) ?? 0) + 1);
  }
  // Every order that was reported as committed is committed, and each name once.
  for (const [order, ruling] of done)
    expect([order, ruling, committed.get(order)]).toEqual([order, 'committed', 1]);
  expect(committed.size).toBeGreaterThanOrEqual(to);
  const { keyed, queryable, blind } = outside.sinks;
  for (const order of committed.keys()) {
    expect([order, keyed.standing(order), queryable.standing(order)]).toEqual([order, 1, 1]);
    expect(queryable.times('do', order) - queryable.times('undo', order)).toBe(1);
    expect(blind.times('do', order)).toBeLessThanOrEqual(1);
  }
  for (const sink of [keyed, queryable, blind]) {
    for (const { what } of sink.log)
      expect(committed.has(what) || sink.standing(what) === 0).toBe(true);
  }
  // Delivered mail and mail in doubt are all of the mail. Delivered mail can be among the mail in
  // doubt.
  const delivered = [...committed.keys()].filter((order) => blind.times('do', order) === 1).length;
  expect(delivered + left.length).toBeGreaterThanOrEqual(committed.size);
  expect(left.every(({ tool }) => tool === 'mail')).toBe(true);
  const undone = keyed.log.filter(({ did }) => did === 'undo').length;
  console.info(`${new URL(url).protocol} ${beside} killed ${ROUNDS} times:`, {
    committed: committed.size,
    undone,
    in_doubt: left.length,
  });
}

test('sqlite: effects of processes that are killed are done once, or undone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-effects-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await killAgainAndAgain(`sqlite:${join(folder, 'store.db')}`);
});

withPostgres('postgres', (postgres) => {
  test('effects of processes that are killed are done once, or undone', () =>
    killAgainAndAgain(postgres.url()));

  test('and those of processes that work beside each other on the same orders', () =>
    killAgainAndAgain(postgres.url(), 3));
});
