import { MemoryStore } from '@assize/testing/memory';
import { createOracle, fixedClock } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import { START } from '../../tests/support/ledger/runtime.ts';
import { LIBRARY } from '../../tests/support/process/guide-files.ts';
import { type Draft, draftOntology } from './draft.ts';

const WRONG = LIBRARY.replace('a:refersTo :Funds', 'a:refersTo :Fund');
const PROSE = 'A library lends books.';

/** A model that answers from a list, and the requests that it received. */
function answering(...answers: unknown[]): { model: (request: string) => any; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    model: (request) => {
      asked.push(request);
      return answers[asked.length - 1];
    },
  };
}

const store = new MemoryStore();
const logged = (mode: 'record' | 'replay' = 'record', log = new MemoryStore()) =>
  createOracle({ store: log, clock: fixedClock(START), mode });

test('a model’s answer is parsed and checked, with or without text around it', async () => {
  for (const answer of [LIBRARY, `Here it is:\n\n\`\`\`turtle\n${LIBRARY}\`\`\`\nAnything else?`]) {
    const { model, asked } = answering(answer);
    const draft = await draftOntology(PROSE, { oracle: logged(), model });
    expect(draft).toMatchObject({
      text: LIBRARY,
      rounds: 1,
      findings: [],
      ontology: { domain: 'library' },
    });
    expect(asked).toEqual([expect.stringContaining(PROSE)]);
    expect(asked[0]).toContain('a:refersTo');
  }
});

test('a reference text goes to the model, before the description', async () => {
  const { model, asked } = answering(LIBRARY, LIBRARY);
  await draftOntology(PROSE, { oracle: logged(), model });
  await draftOntology(PROSE, {
    oracle: logged(),
    model,
    context: 'A role is externally grounded.',
  });
  expect(asked[0]).not.toContain('For reference');
  expect(asked[1]).toMatch(
    /For reference:\n\nA role is externally grounded\.\n\nThe domain:\n\nA library/,
  );
});

test('after an error the model is asked once more, given its answer and error', async () => {
  const { model, asked } = answering(WRONG, LIBRARY);
  expect(await draftOntology(PROSE, { oracle: logged(), model })).toMatchObject({
    rounds: 2,
    text: LIBRARY,
  });
  expect(asked[1]).toContain(WRONG);
  expect(asked[1]).toContain('Line 126, :WITHIN_FUNDS: a:refersTo names :Fund; there is no :Fund');
});

test('invalid Turtle is reported likewise; a second failure ends the draft', async () => {
  const { model, asked } = answering('I am sorry.', WRONG);
  const draft: Promise<Draft> = draftOntology(PROSE, { oracle: logged(), model });
  await expect(draft).rejects.toMatchObject({ code: 'bad_draft', evidence: { answer: WRONG } });
  expect(asked).toHaveLength(2);
  expect(asked[1]).toContain('The text is not Turtle');
  await expect(
    draftOntology(PROSE, { oracle: logged(), model: answering(7).model }),
  ).rejects.toMatchObject({
    code: 'bad_draft',
  });
});

test('a second run finds answers in the log; another model or prose does not', async () => {
  const { model, asked } = answering(WRONG, LIBRARY, LIBRARY, LIBRARY);
  const record = logged('record', store);
  const first = await draftOntology(PROSE, { oracle: record, model, modelVersion: '1' });
  expect(await draftOntology(PROSE, { oracle: record, model, modelVersion: '1' })).toEqual(first);
  expect(asked).toHaveLength(2);
  const replay = logged('replay', store);
  expect(await draftOntology(PROSE, { oracle: replay, model, modelVersion: '1' })).toEqual(first);
  expect(asked).toHaveLength(2);
  await draftOntology(PROSE, { oracle: record, model, modelVersion: '2' });
  expect(asked).toHaveLength(3);
  await draftOntology(`${PROSE} Slowly.`, { oracle: record, model, modelVersion: '1' });
  expect(asked).toHaveLength(4);
  await expect(draftOntology('Another one.', { oracle: replay, model })).rejects.toMatchObject({
    code: 'oracle_miss',
  });
});
