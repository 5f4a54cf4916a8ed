/**
 * A virtual object of Restate that carries errands, beside a manager that approves:
 * `node restate-runs-program.ts ASKED`, until it is killed or asked to end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import * as restate from '@restatedev/restate-sdk';
import { RunCarrier } from '#agents';
import { restateRuns } from '#integrations/engines';
import { openStore } from '#stores';
import { approveAll, CLERKS, errandRuntime, isLate, payTool } from '../ledger/errands.ts';

export interface AskedOfRestateRuns {
  readonly store: string;
  /** The port of the sink. */
  readonly sink: string;
  /** The port of the object. */
  readonly port: number;
}

const { store: url, sink, port } = JSON.parse(process.argv[2] as string) as AskedOfRestateRuns;
const complain = (error: unknown): void =>
  void process.stderr.write(`${(error as Error).message}\n`);

const pay = payTool(async (key, what) => {
  const body = JSON.stringify({ key, what });
  const answer = await fetch(`http://127.0.0.1:${sink}/keyed/do`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`the sink said ${answer.status}`);
});
const store = await openStore(url);
const assize = errandRuntime(store, pay);
const manager = errandRuntime(store, pay);
const carrier = new RunCarrier({
  ...{ store, assize, agents: [CLERKS], tools: ['errand.pay'] },
  ...{ leaseMs: 600, backoffMs: 20, backoffMaxMs: 200, attempts: 1_000, onFailure: complain },
});
const carry = restateRuns(carrier, restate, { askAgainMs: 50, askAgainMaxMs: 200 });
const runs = restate.object({
  name: 'runs',
  handlers: { carry: async (ctx: restate.ObjectContext) => carry(ctx, ctx.key) },
});
await restate.serve({ services: [runs], port });
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
process.stdout.write(`${JSON.stringify({ works: true })}\n`);
while (!stop.signal.aborted) {
  await approveAll(manager, isLate).catch(complain);
  await sleep(100);
}
for (const runtime of [manager, assize]) await runtime.close();
await store.close();
process.exit();
