// A process to be killed: `node effect-writers.ts <path> <writers>`. It acquires the lease on the
// effects of a SQLite store and prints `held <fence> <last epoch>`. Each writer then runs tool
// transactions in its own trajectory until the process is killed. It prints `sent <epoch> <entry>`,
// commits the entry with the effects, prints `committed <epoch>`, ends the transaction and prints
// `ended <epoch>`.
import { openSqlite } from '../../packages/assize/src/stores/sqlite/index.ts';
import { writeOf } from '../../packages/testing/src/effect-rows.ts';
import { batchOf, entryAfter } from '../../packages/testing/src/store-rows.ts';
import { say } from './process-output.ts';

const [path, writers] = process.argv.slice(2) as [string, string];

// Stdin ends if the parent process dies first.
process.stdin.on('end', () => process.exit());
process.stdin.resume();

const store = await openSqlite({ path });
const { fence, lastEpoch } = await store.leaseEffects();
say(`held ${fence} ${lastEpoch}`);
let epoch = lastEpoch;

async function write(turn: number): Promise<never> {
  const trajectory = `own-${turn}`;
  for (let last = await store.head(trajectory); ; ) {
    const mine = ++epoch;
    const row = entryAfter(last, trajectory, [fence, mine]);
    say(`sent ${mine} ${row.id}`);
    const { status } = await store.commit({ ...batchOf(row), effects: writeOf(fence, mine) });
    say(`${status} ${mine}`);
    const settled = [{ epoch: mine, place: 1, record: 'settled' }];
    const answer = await store.logEffects({ fence, records: settled, ended: [mine] });
    say(`${answer.status === 'written' ? 'ended' : answer.status} ${mine}`);
    last = row;
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, turn) => write(turn)));
