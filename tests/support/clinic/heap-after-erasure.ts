import { getHeapSnapshot } from 'node:v8';
import { MemoryStore } from '@assize/testing/memory';
import { runtimeOver, writFor } from '../ledger/runtime.ts';
import { clinic } from './clinic.ts';

// A process that asserts a word, recalls it, and then erases it or closes the runtime, as its
// argument says. It prints whether its heap still contains the word.

const [how] = process.argv.slice(2);
// Not as a whole in the source: that is in the heap as well.
const word = (): string => ['zq', 'heap', 'word'].join('');

/** Its own scope: after it returns, no variable here holds the word. */
async function believed(): Promise<void> {
  const writ = writFor('nurse');
  const assize = runtimeOver(new MemoryStore(), [clinic]);
  const trajectory = await assize.create(clinic, { trajectoryId: 't', writs: [writ] });
  const memory = trajectory.memory({ space: 'ward', writ });
  await memory.assert({ subject: 'p7', predicate: 'drug', object: `${word()} daily` });
  const { facts } = await memory.recall({ text: word() });
  if (facts.length !== 1) throw new Error('it was not found by its word');
  if (how === 'erased') await memory.erase({ subject: 'p7', reason: 'asked' });
  if (how === 'closed') await assize.close();
}

await believed();
for (let i = 0; i < 3; i++) {
  (globalThis as { gc?: () => void }).gc?.();
  await new Promise((resolve) => setTimeout(resolve, 10));
}
let heap = '';
for await (const chunk of getHeapSnapshot()) heap += chunk;
console.log(heap.includes(`"${word()}"`));
