/**
 * A process with a watchdog that proposes: `node stuck-process.ts STORE LIMIT_MS JOB…`. A job is
 * the key of a proposal and its way, such as `a=loop`, or several at once: `a=wait,b=loop`. It says
 * the outcome of each proposal.
 */
import { z } from 'zod';
import { isAssizeError } from '#base';
import { type Domain, defineDomain } from '#kernel';
import { openStore } from '#stores';
import { Watchdog } from '../../packages/server/src/watchdog/watchdog.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { say } from './process-output.ts';

const WAYS: Readonly<Record<string, () => void>> = {
  fine: () => undefined,
  wait: () => undefined,
  loop: () => {
    for (;;);
  },
  pattern: () => void /^(a+)+$/.test(`${'a'.repeat(60)}b`),
  short: () => {
    for (const end = performance.now() + 150; performance.now() < end; );
  },
};

const domain = defineDomain({
  name: 'spin',
  version: '1',
  state: z.object({ done: z.array(z.string()) }),
  initial: { done: [] },
  processes: { spinning: { writes: ['/done'] } },
  roles: { worker: { processes: ['spinning'] } },
  actions: {
    spin: {
      process: 'spinning',
      args: z.object({ way: z.string() }),
      apply: (state: { done: string[] }, { way }: { way: string }) => {
        WAYS[way]!();
        state.done.push(way);
      },
    },
  },
  invariants: [],
} as any) as Domain;

const [, , url, limitMs, ...jobs] = process.argv as unknown as [string, string, string, string, ...string[]];
const store = await openStore(url);
const watchdog = new Watchdog({
  store,
  url,
  limitMs: Number(limitMs),
  onFailure: (error) => {
    throw error;
  },
});
await watchdog.start();
const assize = runtimeOver(store, [domain], { ports: { watch: watchdog } });
const isNew = (await store.head('t')) === undefined;
const trajectory = isNew ? await assize.create(domain, { trajectoryId: 't' }) : await assize.open('t');
const writ = writFor('agent', { scopes: ['role:worker'] });

async function propose(job: string): Promise<string> {
  const [key, way] = job.split('=') as [string, string];
  try {
    const ruling = await trajectory.propose(intent('spin', { way }, writ, { idempotencyKey: key }));
    return ruling.ruling;
  } catch (error) {
    if (isAssizeError(error)) return error.code;
    throw error;
  }
}

say('ready');
for (const job of jobs) {
  const together = job.split(',');
  await Promise.all(together.map(async (one) => say(`${one}: ${await propose(one)}`)));
}
await watchdog.stop();
await assize.close();
await store.close();
