// A process that dies between a vote and its commit: `node vote-then-die.ts <url> <claim as JSON>`.
// The claim contradicts a current fact, and its judge elects the claim. When the process sends the
// commit with that vote to the store, it kills itself.
import type { Batch } from '#ledger';
import type { Question } from '#memory';
import { createOracle, seededRandom } from '#oracle';
import type { AssertInput } from '#runtime';
import { openStore } from '#stores';
import { clinic } from '../support/clinic/clinic.ts';
import { HandClock, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { say } from './process-output.ts';

const [url, text] = process.argv.slice(2) as [string, string];
const claim = JSON.parse(text) as AssertInput;

const store = await openStore(url);
const clock = new HandClock();
const { commit } = store;
store.commit = (batch: Batch) => {
  if ((batch.facts ?? []).length > 0) process.kill(process.pid, 'SIGKILL');
  return commit.call(store, batch);
};
const runtime = runtimeOver(store, [clinic], {
  ports: { clock, random: seededRandom('dying') },
  memory: {
    judge: {
      oracle: createOracle({ store, clock, mode: 'record' }),
      choose: ({ members }: Question) => {
        say('asked');
        return members.find(({ object }) => object === claim.object)!.claim;
      },
    },
  },
});
const trajectory = await runtime.open('t', clinic);
await trajectory
  .memory({ space: 'ward', writ: writFor('nurse') })
  .assert(claim, { idempotencyKey: 'triage' });
