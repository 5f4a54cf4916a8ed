// A process that is made to be killed: `node belief-writers.ts <url> <writers> <round>`. It says `ready` when the store is open; each writer
// then says contradicting things of a few patients in a trajectory of its own, three to seven of one commit, until it is killed. It says
// `sent <source> <claims>` and, when that is answered, `committed <source> <entry>`; and `failed <source> <code>` for each error after which it
// says the same again, by its key.
import { isAssizeError } from '#base';
import { createOracle, seededRandom } from '#oracle';
import type { AssertInput, Memory } from '#runtime';
import { openStore } from '#stores';
import { seededNumbers } from '../../src/testing/faults.ts';
import { clinic } from '../support/clinic.ts';
import { HandClock, runtimeOver, writFor } from '../support/runtime.ts';
import { say } from './process-output.ts';

const [url, writers, round] = process.argv.slice(2) as [string, string, string];

const PREDICATES = ['drug', 'weight', 'triage', 'allergy'];
const PATIENTS = 2;
const DAYS = 6;

// Should whoever started it die first, stdin ends.
process.stdin.on('end', () => process.exit());
process.stdin.resume();

const writ = writFor('nurse');
const store = await openStore(url);
const clock = new HandClock();
clock.forward(Number(round) * 1_000);
const votes = seededNumbers(Number(round));
const runtime = runtimeOver(store, [clinic], {
  clock,
  random: seededRandom(`round ${round}`),
  judge: {
    oracle: createOracle({ store, clock, mode: 'record' }),
    // One that never says the same again.
    choose: ({ members }) => members[votes(members.length)]!.claim,
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

/** No two say the same, so that each has a row of its own whatever becomes of it. */
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
