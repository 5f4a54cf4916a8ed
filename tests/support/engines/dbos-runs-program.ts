/**
 * A program with a DBOS workflow for each errand, beside a manager that approves:
 * `node dbos-runs-program.ts ASKED`. It says the end of each run as a line of JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { RunCarrier } from '#agents';
import { dbosRuns } from '#integrations/engines';
import { openStore } from '#stores';
import { approveAll, CLERKS, errandRuntime, payTool } from '../ledger/errands.ts';

export interface AskedOfDbosRuns {
  readonly store: string;
  readonly database: string;
  /** The port of the sink. */
  readonly port: string;
  readonly names: readonly string[];
}

const { store: url, database, port, names } = JSON.parse(process.argv[2] as string) as AskedOfDbosRuns;
const say = (event: object): void => void process.stdout.write(`${JSON.stringify(event)}\n`);

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
  ...{ leaseMs: 600, backoffMs: 20, backoffMaxMs: 200, attempts: 1_000 },
  onFailure: (error) => process.stderr.write(`${(error as Error).message}\n`),
});

const carrying = DBOS.registerWorkflow(dbosRuns(carrier, DBOS, { askAgainMs: 50, askAgainMaxMs: 200 }), {
  name: 'carryRun',
});
DBOS.setConfig({ name: 'runs', systemDatabaseUrl: database, logLevel: 'error', applicationVersion: '1' });
await DBOS.launch();
const stop = new AbortController();
const deciding = (async () => {
  while (!stop.signal.aborted) {
    await approveAll(manager).catch((error: unknown) => process.stderr.write(`${(error as Error).message}\n`));
    await sleep(100);
  }
})();
const ends = names.map(async (name) => {
  // A repeated start is the same workflow.
  const handle = await DBOS.startWorkflow(carrying, { workflowID: `run-${name}` })(name);
  const { status, turns } = await handle.getResult();
  say({ name, status, turns });
});
say({ works: true });
await Promise.all(ends);
stop.abort();
await deciding;
await DBOS.shutdown();
for (const runtime of [manager, assize]) await runtime.close();
await store.close();
say({ ended: true });
