import { MemoryStore } from '@assize/testing/memory';
import * as extraction from '#agents';
import { createOracle, fixedClock } from '#oracle';
import { START } from '../../support/ledger/runtime.ts';
import type { Case, Exempt } from './case.ts';
import { PORT, takes } from './table.ts';

const messages = () => [{ id: 'm', author: 'ida', text: 'No nuts for me.', at: START }];

/** The terms that `extractFacts` and other functions that ask a model about messages accept. */
export const extractionTerms = () => ({
  model: () => '{"facts":[]}',
  predicates: {
    allergy: {
      cardinality: 'multi-valued',
      strategy: 'lww',
      description: 'what must not be given',
    },
  },
  subjects: ['ida'],
  reference: START,
  confidenceMax: 0.9,
  theta: { seed: 1, model_version: '1' },
  attempts: 2,
});

const options = () => ({
  ...extractionTerms(),
  oracle: createOracle({ store: new MemoryStore(), clock: fixedClock(START), mode: 'record' }),
  trajectory: 't',
  branch: 'b',
  agent: 'a',
  sample: 1,
});

export const EXTRACTION: Readonly<Record<string, Case | Exempt>> = {
  extractFacts: takes(extraction.extractFacts as never, () => [messages(), options()], {
    '1.model': PORT,
    '1.oracle': PORT,
  }),
  extractWith: takes(
    (given, terms) => extraction.extractWith(async ({ call }) => call(), given, terms),
    () => [messages(), extractionTerms()],
    { '1.model': PORT },
  ),
};
