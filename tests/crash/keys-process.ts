/**
 * A process that runs named orders of many effects each, in its own sequence, until it ends or is
 * killed: `URL SINK SEED ORDERS EFFECTS`. Each effect outside is a line in a file: its key and its
 * text. Other processes run the same orders concurrently.
 */
import { openSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { declareTool } from '#effects';
import { openStore } from '#stores';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';

const [url = '', path = '', seed = '', orders = '', effects = ''] = process.argv.slice(2);
const AT_ONCE = 4;
/**
 * No process loses its lease because it is slow, even on a busy machine. Group members check for a
 * killed process five times in a lease.
 */
const LEASE_MS = 40_000;
const PATIENCE_MS = 600_000;

const sink = openSync(path, 'a');
const store = await openStore(url, {
  lockTimeoutMs: PATIENCE_MS,
  statementTimeoutMs: PATIENCE_MS,
  connectTimeoutMs: PATIENCE_MS,
});
const line = declareTool({
  name: 'line',
  input: z.strictObject({ what: z.string(), order: z.number() }),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  uncompensated: 'it is held until the commit, and nothing of it is ever undone',
  writes: ['lines:{order}'],
  execute: ({ what }, { key }) => void writeSync(sink, `${key} ${what}\n`),
});
const assize = runtimeOver(store, [tally], {
  ports: { clock: { now: () => new Date().toISOString().replace('Z', '000Z') } },
  tools: [line],
  effects: { leaseMs: LEASE_MS },
});
const trajectory = await assize.open('t');
const next = seededNumbers(Number(seed));
const order = Array.from({ length: Number(orders) }, (_, i) => ({ i, at: next(2 ** 30) })).sort(
  (a, b) => a.at - b.at,
);
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let each = order.pop(); each !== undefined; each = order.pop()) {
      const { i } = each;
      const { ruling } = await trajectory.transaction(
        {
          writ: writFor('alice'),
          name: `order-${i}`,
          writes: [`lines:${i}`],
          deadlineMs: PATIENCE_MS,
        },
        async (tx) => {
          for (let n = 0; n < Number(effects); n++)
            await tx.call('line', { what: `${i}.${n}`, order: i });
          tx.propose({ action: 'count', role: 'counter', args: `${i}` });
        },
      );
      process.stdout.write(`${ruling.ruling}\n`);
    }
  }),
);
await assize.close();
await store.close();
