/**
 * A process with its own runtime on a store: `URL SINK NAME ORDERS`. It runs so many orders one
 * after another, prints a line after each, and then stays open and idle until its input ends.
 */
import { openSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { declareTool } from '#effects';
import { openStore } from '#stores';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';

const [url = '', path = '', name = '', orders = ''] = process.argv.slice(2);
const sink = openSync(path, 'a');
const store = await openStore(url);
const line = declareTool({
  name: 'line',
  input: z.strictObject({ what: z.string() }),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
  writes: ['lines:**'],
  execute: ({ what }) => void writeSync(sink, `${what}\n`),
});
const clock = { now: () => new Date().toISOString().replace('Z', '000Z') };
const assize = runtimeOver(store, [tally], { ports: { clock }, tools: [line] });
const trajectory = await assize.open(name);
for (let n = 0; n < Number(orders); n++) {
  const { effects } = await trajectory.transaction(
    { writ: writFor('alice'), writes: ['lines:**'] },
    async (tx) => {
      await tx.call('line', { what: `${name} ${n}` });
      tx.propose({ action: 'count', role: 'counter', args: `${n}` });
    },
  );
  process.stdout.write(`${effects}\n`);
}
process.stdin.resume();
process.stdin.on('end', async () => {
  await assize.close();
  await store.close();
});
