/** A process that proposes to its own trajectory without a pause, until its parent ends it. */
import { openStore } from '#stores';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';

const [url, trajectoryId] = process.argv.slice(2) as [string, string];
const store = await openStore(url);
const trajectory = await runtimeOver(store, [tally]).create(tally, { trajectoryId });
const writ = writFor('alice');
let isOver = false;
process.on('message', () => {
  isOver = true;
});
process.send?.('begun');
while (!isOver) await trajectory.propose({ action: 'count', role: 'counter', args: 'x', writ });
await store.close();
process.disconnect?.();
