import { MemoryStore } from '@assize/testing/internal/memory';
import type { Json } from 'assize/internal/base';
import { type CommitPayload, readRow } from 'assize/internal/ledger';
import { createOracle, seededRandom } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import type { Message, Model } from '#agents';
import { clinic } from '../../../../tests/support/clinic/clinic.ts';
import { HandClock, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { type Agent, type AssertMessagesTerms, assertMessages, runAgents } from './index.ts';

const MESSAGES: Message[] = [
  { id: 'm1', author: 'ida', at: '2026-03-20T09:00:00.000000Z', text: 'No nuts for me.' },
];
const FACTS: Json = {
  facts: [
    {
      message: 1,
      subject: 'ida',
      predicate: 'allergy',
      object: 'nuts',
      confidence: 1,
      from: null,
      to: null,
    },
  ],
};
const silent: Model = () => {
  throw new Error('asked');
};

/** An agent that reads one batch after the other, and is then done. */
function scribe(model: Model, ...batches: readonly Message[][]): Agent {
  const { predicates } = clinic.memory as NonNullable<typeof clinic.memory>;
  const terms: AssertMessagesTerms = { model, predicates, subjects: 'author', space: 'ward' };
  const queue = [...batches];
  return {
    name: 'scribe',
    role: { name: 'nurse', params: {} },
    writ: writFor('scribe', {
      actions: ['assize.believe'],
      scopes: ['memory:ward:**', 'role:nurse'],
    }),
    decide: async (_, oracle) => {
      const next = queue.shift();
      return next === undefined ? 'done' : ((await assertMessages(next, oracle, terms)) ?? 'wait');
    },
  };
}

async function desk() {
  const store = new MemoryStore();
  const clock = new HandClock();
  const assize = runtimeOver(store, [clinic], { ports: { clock }, oracle: store });
  const trajectory = await assize.create(clinic, { trajectoryId: 't' });
  const options = {
    oracle: createOracle({ store, clock, mode: 'record' }),
    clock,
    random: seededRandom('run'),
  };
  return { store, trajectory, options, memory: assize.memory('ward') };
}

test('an agent asserts message facts under its writ; answers are observations', async () => {
  const { store, trajectory, options, memory } = await desk();
  const answers = ['no', FACTS, { facts: [] }];
  let calls = 0;
  const agent = scribe(() => answers[calls++] as Json, MESSAGES, [
    { ...MESSAGES[0]!, id: 'm2', text: 'Hello.' },
  ]);
  const report = await runAgents(trajectory, [agent], options);
  expect([report.ended, calls]).toEqual(['waiting', 3]);
  const { facts } = await memory.recall();
  expect(facts).toMatchObject([
    { subject: 'ida', predicate: 'allergy', object: 'nuts', valid_from: MESSAGES[0]!.at },
  ]);
  const [, commit, ...more] = await store.entries('t');
  expect(more).toEqual([]);
  const { observations } = readRow(commit!).payload as CommitPayload;
  expect(observations.map(({ name }) => name)).toEqual(['extraction', 'extraction', 'turn 0']);
});

test('a resumed run asks the model nothing that is already answered', async () => {
  const { trajectory, options } = await desk();
  await runAgents(trajectory, [scribe(() => FACTS, MESSAGES)], { ...options, maxTurns: 1 });
  const { head } = trajectory;
  expect(await runAgents(trajectory, [scribe(silent, MESSAGES)], options)).toMatchObject({
    ended: 'done',
    head,
  });
});

test('a model that answers something else ends the run, and nothing is said', async () => {
  const { trajectory, options, memory } = await desk();
  const stubborn = scribe(() => ({ facts: [{ subject: 'otto' }] }), MESSAGES);
  await expect(runAgents(trajectory, [stubborn], options)).rejects.toMatchObject({
    code: 'bad_extraction',
  });
  expect([trajectory.length, await memory.history()]).toEqual([1, []]);
});
