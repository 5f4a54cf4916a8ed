/**
 * A program with a DBOS workflow for each errand of a queue, beside a manager that approves:
 * `node dbos-runs-program.ts ASKED`, until it is killed or asked to end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { RunCarrier } from '#agents';
import { dbosRuns } from '#integrations/engines';
import { openStore } from '#stores';
import { approveAll, CLERKS, errandRuntime, isLate, payTool } from '../ledger/errands.ts';

export interface AskedOfDbosRuns {
  readonly store: string;
  readonly database: string;
  /** The port of the sink. */
  readonly port: string;
}

const { store: url, database, port } = JSON.parse(process.argv[2] as string) as AskedOfDbosRuns;
const complain = (error: unknown): void =>
  void process.stderr.write(`${(error as Error).message}\n`);

const pay = payTool(async (key, what) => {
  const body = JSON.stringify({ key, what });
  const answer = await fetch(`http://127.0.0.1:${port}/keyed/do`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`the sink said ${answer.status}`);
});
const store = await openStore(url);
const assize = errandRuntime(store, pay);
const manager = errandRuntime(store, pay);
const carrier = new RunCarrier({
  ...{ store, assize, agents: [CLERKS], tools: ['errand.pay'] },
  ...{ leaseMs: 600, backoffMs: 20, backoffMaxMs: 200, attempts: 1_000, onFailure: complain },
});
DBOS.registerWorkflow(dbosRuns(carrier, DBOS, { askAgainMs: 50, askAgainMaxMs: 200 }), {
  name: 'carryRun',
  // Each restart of a program counts as an attempt, also for a workflow that waits.
  maxRecoveryAttempts: 1_000_000,
});
DBOS.setConfig({
  name: 'runs',
  systemDatabaseUrl: database,
  logLevel: 'error',
  applicationVersion: '1',
});
await DBOS.launch();
// Without a limit, a restarted program advances all its open runs together, and ends none in time.
await DBOS.registerQueue('runs', { minPollingIntervalMs: 100, workerConcurrency: 20 });
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
process.stdout.write(`${JSON.stringify({ works: true })}\n`);
while (!stop.signal.aborted) {
  await approveAll(manager, isLate).catch(complain);
  await sleep(100);
}
await DBOS.shutdown();
for (const runtime of [manager, assize]) await runtime.close();
await store.close();
