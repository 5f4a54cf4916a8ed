// A process that proposes: `node proposer.ts <store> <agent> <proposals> <lanes>`. It opens the
// trajectory `t` and prints `ready`. After a line on stdin its agent spends repeatedly, with
// `lanes` proposals in flight. Each ruling, or the code of an error, is a line on stdout.
import { once } from 'node:events';
import { isAssizeError } from '#base';
import { budget } from '#domains/budget';
import { systemPause, systemRandom } from '#oracle';
import type { Ruling } from '#runtime';
import { openStore } from '#stores';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';

const [url, agent, proposals, lanes] = process.argv.slice(2) as [string, string, string, string];

const AMOUNT = 700;

const store = await openStore(url);
const trajectory = await runtimeOver(store, [budget], {
  ports: { random: systemRandom, pause: systemPause },
}).open('t');
console.log('ready');
await once(process.stdin, 'data');
process.stdin.destroy();
let left = Number(proposals);
await Promise.all(
  Array.from({ length: Number(lanes) }, async () => {
    while (left-- > 0) console.log(await outcomeOf(spend()));
  }),
);
await store.close();

function spend(): Promise<Ruling> {
  const role = { name: 'spender', params: { agent } };
  return trajectory.propose({
    action: 'spend',
    role,
    args: { amount: AMOUNT },
    writ: writFor('agent'),
  });
}

async function outcomeOf(answer: Promise<Ruling>): Promise<string> {
  try {
    const ruling = await answer;
    return ruling.ruling === 'frozen' ? ruling.ruling : `${ruling.ruling} ${ruling.entry.seq}`;
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return error.code;
  }
}
