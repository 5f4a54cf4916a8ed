/**
 * Writes the golden SQLite stores of the released schema, once: `node tests/golden/make-stores.ts`.
 * Every later version must open the files; the script never overwrites a file.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { importLines } from '#export';
import { integrateLog } from '#ledger';
import { seededRandom } from '#oracle';
import { openStore, type Store } from '#stores';
import { clinic } from '../support/clinic/clinic.ts';
import { HandClock, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { FACTS, linesOf, V1 } from './ledger.ts';

const nurse = writFor('nurse');
const eraser = writFor('eraser', { actions: ['assize.erase'], scopes: ['**'] });

async function makeStore(file: string, fill: (store: Store) => Promise<void>): Promise<void> {
  const path = join(V1, file);
  if (existsSync(path)) throw new Error(`${path} exists. Use a new file name for another schema.`);
  const store = await openStore(`sqlite:${path}`);
  await fill(store);
  await store.close();
}

/** Facts of two patients and a branch: corrected, contradicted, long, erased, and with vectors. */
async function assertFacts(store: Store): Promise<void> {
  const clock = new HandClock();
  const runtime = runtimeOver(store, [clinic], {
    ports: { clock, random: seededRandom('golden') },
    oracle: store,
  });
  const trajectory = await runtime.create(clinic, { trajectoryId: 'clinic', writs: [nurse] });
  const { space, text } = FACTS;
  const memory = trajectory.memory({ space, writ: nurse });
  const valid = { from: '2026-03-01T00:00:00.000000Z', to: '2026-03-20T00:00:00.000000Z' };
  for (const object of [text, 'amoxicillin', 'amoxicillin '.repeat(40)]) {
    clock.forward(1_000);
    await memory.assert({ subject: 'Zoë', predicate: 'drug', object, valid });
  }
  for (const object of ['cats', 'nuts'])
    await memory.assert({ subject: 'Zoë', predicate: 'allergy', object });
  await memory.assert({ subject: 'David', predicate: 'drug', object: 'aspirin' });
  const branch = await runtime.branch(trajectory.id, trajectory.head, {
    trajectoryId: 'branch',
    note: 'what if',
    writs: [nurse],
  });
  await branch.memory({ space, writ: nurse }).retract({ subject: 'Zoë', predicate: 'drug', valid });
  await trajectory.erase({
    beliefs: [{ space, subject: 'David' }],
    reason: 'asked for',
    writ: eraser,
  });
  const texts = await store.textsToEmbed(FACTS.embedder, space, 100);
  await store.putVectors(
    FACTS.embedder,
    texts.map(({ id }) => ({ id, vector: FACTS.vector })),
  );
  await runtime.close();
}

await makeStore('store.sqlite', async (store) => {
  async function* lines(): AsyncGenerator<string> {
    yield* linesOf('honest.jsonl');
  }
  await importLines(store, lines());
  await integrateLog(store);
});
await makeStore('facts.sqlite', assertFacts);
