import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { type DurableRun, RunRecords, replayRun } from '#agents';
import { verifyStore } from '#runtime';
import { openStore, type Store } from '#stores';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { approveAll, clerk, errandRuntime, errands, payTool } from '../support/ledger/errands.ts';
import { operator } from '../support/ledger/runtime.ts';
import type { PostgresServer } from '../support/postgres/index.ts';
import { allOf } from '../support/process/async-items.ts';
import type { OutsideSink } from '../support/tools/effect-sink.ts';
import { Outside } from './outside.ts';

/** The work of the carriers. */
export interface CarriedWork {
  /** The store of the runs. */
  readonly url: string;
  /** The port of the sink of their payments. */
  readonly port: string;
}

/** The processes that carry the runs of a store. */
export interface Carriers {
  /** The number of processes. */
  readonly size: number;
  /** Kills a process, and starts another one in its place. */
  replace(place: number): Promise<void>;
  /** Told of each run after its record. */
  begin(trajectoryId: string): Promise<void>;
  /** Called when all runs have ended. Returns after an end of all processes without an error. */
  end(names: readonly string[]): Promise<void>;
}

export interface KillOptions {
  readonly url: string;
  /** The server of the store. It is killed too. */
  readonly server?: PostgresServer;
  readonly carriers: (work: CarriedWork) => Promise<Carriers>;
  readonly runs: number;
  readonly kills: number;
  /** The longest time between two kills. */
  readonly betweenMs: number;
}

const TENANTS = 3;
/** The number of runs that wait for their approval through all kills. */
const LATE = 2;
const OPEN_MAX = 40;
const TRIES = 50;
const SEED = Number(process.env['ASSIZE_SEED']);

/**
 * Runs with an approval, a call and a timer each. Between their beginnings, processes are killed at
 * random times and replaced, each of them at least once. Some runs wait for their approval
 * meanwhile. Then every run has ended once, and the sink has every call once.
 */
export async function killCarriers({
  url,
  server,
  carriers,
  runs,
  kills,
  betweenMs,
}: KillOptions): Promise<void> {
  const outside = new Outside();
  const port = await outside.listen();
  onTestFinished(() => outside.close());
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const late = Array.from({ length: LATE }, (_, n) => `late-${n}`);
  const names = [...late, ...Array.from({ length: runs - LATE }, (_, n) => `errand-${n}`)];
  const { records, replays, begin, approve } = await office(store, names, outside.sinks.keyed);
  const next = seededNumbers(SEED);

  const carrying = await carriers({ url, port });
  const size = carrying.size + (server === undefined ? 0 : 1);
  const open = async () =>
    (await repeated(() => allOf(records.list()))).map(({ trajectoryId }) => trajectoryId);
  const waiting = { interval: 200, timeout: 60_000 + runs * 500 };
  for (let killed = 0; killed < kills; killed++) {
    // With more open runs, processes that live for a second only recover.
    await expect.poll(async () => (await open()).length, waiting).toBeLessThan(OPEN_MAX);
    const share = (kill: number): number => Math.round((runs * kill) / kills);
    for (const name of names.slice(share(killed), share(killed + 1))) {
      // The first request after a kill of the server finds a closed connection.
      await repeated(() => begin(name));
      await repeated(() => carrying.begin(name));
    }
    await sleep(next(betweenMs));
    const place = killed < size ? killed : next(size);
    if (place < carrying.size) await carrying.replace(place);
    else await restarted(server!);
  }
  await expect.poll(open, waiting).toEqual(late);
  let approved = 0;
  await expect.poll(async () => (approved += await approve()), waiting).toBe(LATE);
  await expect.poll(open, waiting).toEqual([]);

  const ended = await allOf(records.list({ ended: true }));
  expect(ended.map(({ status, trajectoryId }) => [trajectoryId, status])).toEqual(
    names.toSorted().map((name) => [name, 'done']),
  );
  const { keyed } = outside.sinks;
  for (const name of names) {
    const done = keyed.log.filter(({ did, what }) => did === 'do' && what === name);
    expect([name, done.length]).toEqual([name, 1]);
  }
  // Each trajectory has its pending proposal, its commits, and nothing of a second process.
  for (const name of names) expect(await replays(name)).toMatchObject({ same: true });
  expect((await verifyStore(store)).map(({ valid }) => valid)).toEqual(names.map(() => true));
  await carrying.end(names);
}

async function restarted(server: PostgresServer): Promise<void> {
  await server.stop('killed');
  await server.start();
}

/** Repeats a request that can be repeated, until its server is back. */
async function repeated<T>(request: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await request();
    } catch (error) {
      if (tries === TRIES) throw error;
      await sleep(200);
    }
  }
}

/** The test itself: it starts the runs and approves the late ones. */
async function office(store: Store, names: readonly string[], sink: OutsideSink) {
  const pay = payTool((key, what) => sink.do(key, what));
  const domain = errands(pay);
  const assize = errandRuntime(store, pay, domain);
  const records = new RunRecords(store);
  for (const trajectoryId of names) {
    await assize.create(domain, { trajectoryId });
    assize.release(trajectoryId);
  }
  onTestFinished(() => assize.close());
  const tenants = new Map(names.map((name, n) => [name, `tenant-${n % TENANTS}`]));
  const begin = (trajectoryId: string): Promise<DurableRun> =>
    records.begin({ trajectoryId, agents: 'clerks', tenant: tenants.get(trajectoryId)! });
  const replays = (trajectoryId: string) =>
    replayRun({ store, oracleStore: store, trajectoryId }, domain, [clerk(trajectoryId)], {
      anchors: [operator.publicKey],
    });
  return { records, replays, begin, approve: () => approveAll(assize) };
}
