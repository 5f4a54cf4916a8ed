// A process with siblings: `node sibling.ts <store> <spend|delegate> <first> <step> <count>`. It
// opens the trajectory `t` and prints `ready`. After a line on stdin, the siblings number first,
// first + step, … all take their share concurrently. Each outcome is a line on stdout.
import { once } from 'node:events';
import { isAssizeError } from '#base';
import { systemPause, systemRandom } from '#oracle';
import { openStore } from '#stores';
import { deskOf } from '../support/ledger/desk.ts';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { granted, lead, SHARE, siblingOf } from '../support/ledger/sibling-writs.ts';

const [url, what, first, step, count] = process.argv.slice(2) as [
  string,
  'spend' | 'delegate',
  string,
  string,
  string,
];

const store = await openStore(url);
const trajectory = await runtimeOver(store, [deskOf()], {
  ports: { random: systemRandom, pause: systemPause },
}).open('t');
console.log('ready');
await once(process.stdin, 'data');
process.stdin.destroy();
const mine = Array.from({ length: Number(count) }, (_, n) => n).filter(
  (n) => n % Number(step) === Number(first),
);
await Promise.all(
  mine.map(async (n) => console.log(await outcomeOf(what === 'spend' ? spend(n) : delegate(n)))),
);
await store.close();

async function spend(n: number): Promise<string> {
  const writ = { writ: siblingOf(n), chain: [granted] };
  const ruling = await trajectory.propose({
    action: 'pay',
    role: 'worker',
    args: { usd: SHARE },
    writ,
  });
  return ruling.ruling === 'rejected' ? ruling.reason : ruling.ruling;
}

async function delegate(n: number): Promise<string> {
  await trajectory.delegations.delegate({
    task: `a share for ${n}`,
    writ: granted,
    subject: `sibling ${n}`,
    budget: { usd: SHARE },
    childTrajectoryId: `c${n}`,
    privateKey: lead.privateKey,
  });
  return 'delegated';
}

async function outcomeOf(answer: Promise<string>): Promise<string> {
  try {
    return await answer;
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return error.code;
  }
}
