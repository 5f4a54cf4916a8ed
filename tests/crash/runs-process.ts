/**
 * A worker of durable runs beside a manager that approves, until the process is killed or asked to
 * end: `URL PORT`. The sink of the payments is at the port, in a process that survives.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '#stores';
import {
  approveAll,
  errandRuntime,
  isLate,
  payTool,
  workerOver,
} from '../support/ledger/errands.ts';

const [url = '', port = ''] = process.argv.slice(2);

const pay = payTool(async (key, what) => {
  const answer = await fetch(`http://127.0.0.1:${port}/keyed/do`, {
    method: 'POST',
    body: JSON.stringify({ key, what }),
  });
  if (!answer.ok) throw new Error(`the sink said ${answer.status}`);
  await answer.json();
});
const store = await openStore(url);
const assize = errandRuntime(store, pay);
const manager = errandRuntime(store, pay);
const complain = (error: unknown): void =>
  void process.stderr.write(`${process.pid} ${(error as Error).message}\n`);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const worker = workerOver(store, assize, {
  ...{ concurrency: 8, perTenant: 4, backoffMs: 20, backoffMaxMs: 200, attempts: 1_000 },
  onFailure: complain,
});
process.stdout.write('works\n');
const deciding = (async () => {
  while (!stop.signal.aborted) {
    await approveAll(manager, isLate).catch(complain);
    await sleep(100);
  }
})();
await worker.run(stop.signal);
await deciding;
await manager.close();
await assize.close();
await store.close();
