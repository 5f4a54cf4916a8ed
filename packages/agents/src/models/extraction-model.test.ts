import { MemoryStore } from '@assize/testing/internal/memory';
import { createOracle, fixedClock } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import { extractFacts } from '#agents';
import { clinic } from '../../../../tests/support/clinic/clinic.ts';
import {
  completion,
  StubProvider,
  type StubReply,
} from '../../../../tests/support/models/stub-provider.ts';
import { extractionModel, openAiCompatible } from './index.ts';

const FACTS = JSON.stringify({
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
});

async function extracted(reply: StubReply) {
  const stub = await StubProvider.listen('openai', [reply], { key: null });
  try {
    const model = openAiCompatible({ baseUrl: `${stub.origin}/v1`, model: 'stub' });
    const said = { id: 'm1', author: 'ida', at: new Date('2026-03-20'), text: 'No nuts for me.' };
    return await extractFacts([said], {
      oracle: createOracle({
        store: new MemoryStore(),
        clock: fixedClock('2026-03-20'),
        mode: 'record',
      }),
      trajectory: 'notes',
      model: extractionModel(model, { temperature: 0 }),
      theta: { model_version: model.id },
      predicates: clinic.memory!.predicates,
      subjects: 'author',
    });
  } finally {
    expect(stub.requests).toHaveLength(1);
    await stub.close();
  }
}

test.each<[string, string]>([
  ['plain', FACTS],
  ['fenced', `\`\`\`json\n${FACTS}\n\`\`\``],
  ['after reasoning', `<think>Ida says so.</think>\n${FACTS}`],
  ['after reasoning without its start', `{"facts":[]}? No.</think>${FACTS}`],
  ['in sentences', `Here are the facts:\n${FACTS}\nThat is all.`],
])('the facts are read from an answer that is %s', async (_, text) => {
  const { claims, attempts } = await extracted(completion(text));
  expect([claims, attempts]).toMatchObject([
    [{ subject: 'ida', predicate: 'allergy', object: 'nuts' }],
    1,
  ]);
});

test.each([
  ['length', 'token_limit'],
  ['content_filter', 'content_filtered'],
])('an answer that stops with %s is %s, and is not recorded', async (reason, code) => {
  await expect(extracted(completion('{"facts":', reason))).rejects.toMatchObject({ code });
});
