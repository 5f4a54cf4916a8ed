import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Json } from '#base';
import { fsck } from '#checkpoints';
import { Replayer } from '#ledger';
import { deepReplay } from '#replay';
import { Assize, rebuildMemory } from '#runtime';
import type { Store } from '#stores';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { bundled } from '../support/bundled.ts';
import { cases } from '../support/cases.ts';
import { payloads } from '../support/ledger/desk.ts';
import { operator } from '../support/ledger/runtime.ts';
import { onEveryDatabase } from '../support/ledger/stores.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import {
  mixed,
  ON_PURPOSE,
  type Plan,
  type ProcessLine,
  planOf,
  SPACE,
  standingOf,
  TRAJECTORIES,
  writOf,
} from './mixed-orders.ts';
import { Outside } from './outside.ts';

/**
 * All work of a process, done concurrently by several processes that are killed. The work is tool
 * transactions of each class with branches, facts of commits, facts chosen by a judge or an
 * approver, approvals, and operator decisions. Each part has its own test; this test finds errors
 * where parts meet, between processes.
 */

/** `ASSIZE_CRASH_EFFECTS=200` for a long night. */
const ROUNDS = Number(process.env['ASSIZE_CRASH_EFFECTS'] ?? Math.max(2, cases(5)));
const SEED = Number(process.env['ASSIZE_SEED']);
/**
 * Concurrent orders of the processes in a group. A process with few orders soon adopts abandoned
 * work.
 */
const BESIDE = ['6', '6', '1'];
/**
 * In a group, the others soon adopt the work of a killed process. A process alone can be as slow as
 * it likes.
 */
const LEASE_MS = { beside: '1000', alone: '60000' };
/** Orders that a process may get done before it is killed, at most. */
const ORDERS_A_ROUND = 60;
/** Those that processes beside each other do again. */
const AGAIN = 5;
/** Maximum number of pauses before a kill, and the maximum times of a pause and between pauses. */
const PAUSES_MAX = 10;
const PAUSE_MS_MAX = 200;
const RUN_MS_MAX = 200;
/** One request of so many goes wrong; more of those that leave something to a person. */
const MISHAPS = { keyed: 8, queryable: 8, blind: 2 };
/** More facts than there are. */
const ALL = 100_000;

const program = await bundled(join(import.meta.dirname, 'mixed-process.ts'));

/**
 * One life of a process: killed after its start and some pauses, by these numbers, or left alive.
 */
async function life(
  args: readonly string[],
  next?: (below: number) => number,
): Promise<ProcessLine[]> {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const told: ProcessLine[] = [];
  const exited = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    told.push(JSON.parse(line) as ProcessLine);
    if (next !== undefined && told.length === 1) void harass(child, next);
  }
  const [code, signal] = await exited;
  expect({ code, signal }).toEqual(
    code === null ? { code, signal: 'SIGKILL' } : { code: 0, signal },
  );
  return told;
}

/**
 * A paused process finds the work of the others done. While a pause is shorter than its lease, no
 * process takes it for dead.
 */
async function harass(child: ChildProcess, next: (below: number) => number): Promise<void> {
  for (let pauses = next(PAUSES_MAX); pauses > 0; pauses--) {
    await sleep(next(RUN_MS_MAX));
    child.kill('SIGSTOP');
    await sleep(next(PAUSE_MS_MAX));
    child.kill('SIGCONT');
  }
  await sleep(next(RUN_MS_MAX));
  child.kill('SIGKILL');
}

onEveryDatabase((stores) => {
  test(`work of killed processes is there once and as recorded (seed ${SEED})`, async () => {
    const { url, open } = stores.newPlace();
    const outside = new Outside();
    const port = await outside.listen();
    onTestFinished(() => outside.close());
    await begin(await open());
    outside.mishap = mishaps();
    const { committed, to } = await killAgainAndAgain(url, port);
    outside.mishap = () => 'none';
    const rulings = await done(url, port, to);
    const plans = Array.from({ length: to }, (_, number) => planOf(SEED, number));
    for (const { name, number } of plans)
      if (committed.has(number)) expect([name, rulings.get(number)]).toEqual([name, 'committed']);

    const store = await open();
    await expectSound(store);
    const there = plans.filter(({ number }) => rulings.get(number) === 'committed');
    await expectCountedOnce(store, there);
    await expectBelieved(store, plans, there);
    expectStanding(outside, there);
  });
});

async function begin(store: Store): Promise<void> {
  const assize = new Assize({ store, domains: [mixed], anchors: [operator.publicKey] });
  for (const trajectoryId of TRAJECTORIES)
    await assize.create(mixed, { trajectoryId, writs: [writOf(trajectoryId)] });
  await assize.close();
  await store.close();
}

/** Random mishaps, except for an operator's look: that shows the real content. */
function mishaps(): Outside['mishap'] {
  const next = seededNumbers(SEED);
  return (sort, does) => {
    if (does === 'look' || next(MISHAPS[sort]) > 0) return 'none';
    return next(2) === 0 ? 'refused' : 'unanswered';
  };
}

/** The orders reported as committed, and the number of started orders plus some more. */
async function killAgainAndAgain(
  url: string,
  port: string,
): Promise<{ committed: Set<number>; to: number }> {
  const next = seededNumbers(SEED);
  const committed = new Set<number>();
  let from = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const args = [url, port, `${SEED}`, `${Math.max(0, from - AGAIN)}`, `${from + ORDERS_A_ROUND}`];
    const told = await Promise.all(
      BESIDE.map((atOnce) => life([...args, atOnce, LEASE_MS.beside], next)),
    );
    for (const each of told.flat()) {
      if (!('number' in each)) continue;
      if ('ruling' in each && each.ruling === 'committed') committed.add(each.number);
      from = Math.max(from, each.number);
    }
  }
  return { committed, to: from + 20 };
}

/** All orders again, by a process that lives; how each ended. */
async function done(url: string, port: string, to: number): Promise<Map<number, string>> {
  const args = [url, port, `${SEED}`, '0', `${to}`, '6', LEASE_MS.alone];
  const told = await life(args);
  const left = told.flatMap((each) => ('left' in each ? each.left : []));
  expect(left).toEqual([]);
  const rulings = new Map<number, string>();
  for (const each of told)
    if ('number' in each) rulings.set(each.number, 'ruling' in each ? each.ruling : each.failed);
  for (let number = 0; number < to; number++) {
    const plan = planOf(SEED, number);
    expect(endsOf(plan), `${rulings.get(number)}: ${JSON.stringify(plan)}`).toContain(
      rulings.get(number),
    );
  }
  return rulings;
}

/**
 * The possible ends of an order. The doctor rejects a proposal if its read set changed before the
 * approval.
 */
function endsOf({ throws, isForbidden }: Plan): string[] {
  if (throws) return [ON_PURPOSE];
  return isForbidden ? ['invariant_rejected'] : ['committed', 'counselor_rejected'];
}

async function expectSound(store: Store): Promise<void> {
  expect(await fsck(store)).toMatchObject({ valid: true, faults: [] });
  const before = await factsOf(store);
  await rebuildMemory(store);
  expect(await factsOf(store)).toEqual(before);
  const { release, lastEpoch } = await store.leaseEffects();
  await release();
  for (const trajectory of TRAJECTORIES) {
    await expectEffectLogMatches(store, trajectory, [], lastEpoch);
    expect(await deepReplay(store, trajectory, { domains: [mixed] })).toMatchObject({ same: true });
  }
}

function factsOf(store: Store): ReturnType<Store['facts']> {
  return store.facts({ space: SPACE, kind: 'all', limit: ALL });
}

/**
 * The committed orders and no others: in the state once, and in the ledger in one entry per key.
 */
async function expectCountedOnce(store: Store, there: readonly Plan[]): Promise<void> {
  const counted: [string, Json][] = [];
  const keys: string[] = [];
  for (const trajectory of TRAJECTORIES) {
    const { fold } = await new Replayer(store).replay(trajectory);
    counted.push(...Object.entries((fold.state as { done: Record<string, Json> }).done));
    for (const payload of await payloads(store, trajectory))
      if (payload.kind === 'commit' && payload.key_hash !== undefined) keys.push(payload.key_hash);
  }
  const counting = there.filter(({ kind }) => kind === 'transaction' || kind === 'count');
  expect(counted.sort()).toEqual(counting.map(({ name }) => [name, 1]).sort());
  expect(new Set(keys).size).toBe(keys.length);
}

/** An assertion that lost a contradiction is among its candidates. */
async function expectBelieved(
  store: Store,
  plans: readonly Plan[],
  there: readonly Plan[],
): Promise<void> {
  const said = new Set(
    (await factsOf(store)).flatMap(({ object }) => object.match(/of order-\d+/g) ?? []),
  );
  const wanted = new Set(there.map(({ name }) => `of ${name}`));
  expect(plans.filter(({ name }) => said.has(`of ${name}`)).map(({ name }) => name)).toEqual(
    plans.filter(({ name }) => wanted.has(`of ${name}`)).map(({ name }) => name),
  );
}

/** Committed effects stand once, and all other executed effects are compensated. */
function expectStanding({ sinks }: Outside, there: readonly Plan[]): void {
  const standing: string[] = [];
  for (const sink of Object.values(sinks))
    for (const what of new Set(sink.log.map((each) => each.what)))
      standing.push(...Array.from({ length: Math.abs(sink.standing(what)) }, () => what));
  expect(standing.sort()).toEqual(there.flatMap(standingOf).sort());
}
