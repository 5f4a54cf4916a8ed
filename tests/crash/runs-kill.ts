import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { type DurableRun, RunRecords, replayRun } from '#agents';
import { openStore, type Store } from '#stores';
import { seededNumbers } from '../../src/testing/faults.ts';
import { bundled } from '../support/bundled.ts';
import { clerk, errandRuntime, errands, payTool } from '../support/ledger/errands.ts';
import { operator } from '../support/ledger/runtime.ts';
import { allOf } from '../support/process/async-items.ts';
import { Outside } from './outside.ts';

export interface KillOptions {
  readonly url: string;
  readonly runs: number;
  readonly workers: number;
  readonly kills: number;
  /** The longest time between two kills. */
  readonly betweenMs: number;
}

const TENANTS = 3;
const SEED = Number(process.env['ASSIZE_SEED']);

/**
 * Runs with an approval, a call and a timer each, by workers of which one after another is killed
 * at a random time and replaced. Then every run has ended once, and the sink has every call once.
 */
export async function killWorkers({ url, runs, workers, kills, betweenMs }: KillOptions): Promise<void> {
  const program = await bundled(join(import.meta.dirname, 'runs-process.ts'));
  const outside = new Outside();
  const port = await outside.listen();
  onTestFinished(() => outside.close());
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const names = Array.from({ length: runs }, (_, n) => `errand-${n}`);
  const { records, replays } = await office(store, names);
  const next = seededNumbers(SEED);

  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [program, url, port], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout!, 'data');
    return child;
  };
  const living = await Promise.all(Array.from({ length: workers }, start));
  onTestFinished(() => {
    for (const child of living) child.kill('SIGKILL');
  });
  for (let killed = 0; killed < kills; killed++) {
    await sleep(next(betweenMs));
    const place = next(workers);
    const exited = once(living[place]!, 'exit');
    living[place]!.kill('SIGKILL');
    await exited;
    living[place] = await start();
  }
  const open = (): Promise<DurableRun[]> => allOf(records.list());
  await expect.poll(open, { interval: 200, timeout: 60_000 + runs * 500 }).toEqual([]);

  const ended = await allOf(records.list({ ended: true }));
  expect(ended.map(({ status, trajectoryId }) => [trajectoryId, status])).toEqual(
    names.toSorted().map((name) => [name, 'done']),
  );
  const { keyed } = outside.sinks;
  for (const name of names) {
    const done = keyed.log.filter(({ did, what }) => did === 'do' && what === name);
    expect([name, done.length]).toEqual([name, 1]);
  }
  // Each trajectory has its pending proposal, its commits, and nothing of a second worker.
  for (const name of names) expect(await replays(name)).toMatchObject({ same: true });
  for (const child of living) {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  }
}

async function office(store: Store, names: readonly string[]) {
  const pay = payTool(() => {
    throw new Error('this process makes no call');
  });
  const domain = errands(pay);
  const assize = errandRuntime(store, pay, domain);
  const records = new RunRecords(store);
  for (const [n, trajectoryId] of names.entries()) {
    await assize.create(domain, { trajectoryId });
    assize.release(trajectoryId);
    await records.begin({ trajectoryId, agents: 'clerks', tenant: `tenant-${n % TENANTS}` });
  }
  await assize.close();
  const replays = (trajectoryId: string) =>
    replayRun({ store, oracleStore: store, trajectoryId }, domain, [clerk(trajectoryId)], {
      anchors: [operator.publicKey],
    });
  return { records, replays };
}
