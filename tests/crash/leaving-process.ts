/**
 * A process that leaves as soon as it knows that its effects are settled: `URL SINK WAY ORDERS`.
 * Each effect at the blind sink is a line in a file.
 */
import { openSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { declareTool } from '#effects';
import { openStore } from '#stores';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';

const [url = '', path = '', way = '', orders = ''] = process.argv.slice(2);
const sink = openSync(path, 'a');
const store = await openStore(url);
const letter = declareTool({
  name: 'letter',
  input: z.strictObject({ what: z.string() }),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
  writes: ['letters:{what}'],
  execute: ({ what }) => void writeSync(sink, `${what}\n`),
});
const clock = { now: () => new Date().toISOString().replace('Z', '000Z') };
const assize = runtimeOver(store, [tally], { ports: { clock }, tools: [letter] });
const trajectory = await assize.open('t');
const outcomes = await Promise.all(
  Array.from({ length: Number(orders) }, (_, n) =>
    trajectory.transaction({ writ: writFor('alice'), writes: [`letters:${n}`] }, async (tx) => {
      await tx.call('letter', { what: `${n}` });
      tx.propose({ action: 'count', role: 'counter', args: `${n}` });
    }),
  ),
);
if (outcomes.some(({ effects }) => effects !== 'settled'))
  throw new Error('an order was not settled');
if (way === 'kill') process.kill(process.pid, 'SIGKILL');
if (way === 'close') await store.close();
process.exit(0);
