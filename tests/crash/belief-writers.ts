// A process to be killed: `node belief-writers.ts <url> <writers> <round>`. It prints `ready` when
// the store is open. Each writer then asserts contradictory facts about a few patients in its own
// trajectory, three to seven in one commit, until the process is killed. It prints
// `sent <source> <claims>` and, after the answer, `committed <source> <entry>`. It prints
// `failed <source> <code>` for each error after which it retries with the same idempotency key.
import { isAssizeError } from '#base';
import { createOracle, seededRandom } from '#oracle';
import type { AssertInput, Memory } from '#runtime';
import { openStore } from '#stores';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { clinic } from '../support/clinic/clinic.ts';
import { HandClock, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { say } from './process-output.ts';

const [url, writers, round] = process.argv.slice(2) as [string, string, string];

const PREDICATES = ['drug', 'weight', 'triage', 'allergy'];
const PATIENTS = 2;
const DAYS = 6;

// Stdin ends if the parent process dies first.
process.stdin.on('end', () => process.exit());
process.stdin.resume();

const writ = writFor('nurse');
const store = await openStore(url);
const clock = new HandClock();
clock.forward(Number(round) * 1_000);
const votes = seededNumbers(Number(round));
const runtime = runtimeOver(store, [clinic], {
  ports: { clock, random: seededRandom(`round ${round}`) },
  memory: {
    judge: {
      oracle: createOracle({ store, clock, mode: 'record' }),
      // One that never says the same again.
      choose: ({ members }) => members[votes(members.length)]!.claim,
    },
  },
});
say('ready');

async function memoryOf(trajectoryId: string): Promise<Memory> {
  const isThere = (await store.head(trajectoryId)) !== undefined;
  const trajectory = isThere
    ? await runtime.open(trajectoryId, clinic)
    : await runtime.create(clinic, { trajectoryId, writs: [writ] });
  return trajectory.memory({ space: 'ward', writ });
}

async function write(writer: number): Promise<never> {
  const memory = await memoryOf(`own-${writer}`);
  const next = seededNumbers(Number(round) * 31 + writer);
  for (let turn = 0; ; turn += 1) {
    const source = `${round}-${writer}-${turn}`;
    const claims = Array.from({ length: 3 + next(5) }, (_, i) => claimOf(`${source}-${i}`, next));
    clock.forward(1);
    say(`sent ${source} ${claims.length}`);
    for (;;) {
      try {
        const ruling = await memory.assertMany(claims, { idempotencyKey: source });
        if (ruling.ruling !== 'committed') throw new Error(`unexpected: ${JSON.stringify(ruling)}`);
        say(`committed ${source} ${ruling.entry.id}`);
        break;
      } catch (error) {
        if (!isAssizeError(error) || !error.retryable) throw error;
        say(`failed ${source} ${error.code}`);
      }
    }
  }
}

/** No two facts are equal, so each has its own row in every outcome. */
function claimOf(source: string, next: (below: number) => number): AssertInput {
  const from = next(DAYS);
  const day = (n: number): string => `2026-01-0${n + 1}T00:00:00.000000Z`;
  return {
    subject: `patient ${next(PATIENTS)}`,
    predicate: PREDICATES[next(PREDICATES.length)]!,
    object: source,
    confidence: next(5) / 4,
    valid: { from: day(from), to: day(from + 1 + next(DAYS - from)) },
    source,
  };
}

await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => write(writer)));
