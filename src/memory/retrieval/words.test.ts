import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentOf, stopWordsOfDocument, wordsOfDocument } from './document.ts';
import { stem } from './stem.ts';
import { everyWordOf, wordsOf } from './words.ts';

// The examples that the paper gives beside its rules.
test.each([
  ['caresses caress', 'caress caress'],
  ['ponies ties cats', 'poni ti cat'],
  ['feed agreed plastered bled motoring sing', 'feed agre plaster bled motor sing'],
  [
    'conflated troubled sized hopping tanned falling hissing fizzed failing filing',
    'conflat troubl size hop tan fall hiss fizz fail file',
  ],
  ['happy sky', 'happi sky'],
  ['relational conditional rational valenci hesitanci digitizer', 'relat condit ration valenc hesit digit'],
  ['conformabli radicalli differentli vileli analogousli', 'conform radic differ vile analog'],
  ['vietnamization predication operator feudalism decisiveness', 'vietnam predic oper feudal decis'],
  ['hopefulness callousness formaliti sensitiviti sensibiliti', 'hope callous formal sensit sensibl'],
  [
    'triplicate formative formalize electriciti electrical hopeful goodness',
    'triplic form formal electr electr hope good',
  ],
  [
    'revival allowance inference airliner gyroscopic adjustable defensible',
    'reviv allow infer airlin gyroscop adjust defens',
  ],
  [
    'irritant replacement adjustment dependent adoption homologou communism',
    'irrit replac adjust depend adopt homolog commun',
  ],
  ['activate angulariti homologous effective bowdlerize', 'activ angular homolog effect bowdler'],
  ['probate rate cease controll roll', 'probat rate ceas control roll'],
])('%s are stemmed to %s', (words, stems) => {
  expect(words.split(' ').map(stem).join(' ')).toBe(stems);
});

test.each([
  ['The patient’s allergies, and HER weight!', 'patient allergi weight'],
  ["don't O'Brien's", 'dont obrien'],
  ['Café Zürich ﬁne', 'cafe zurich fine'],
  ['on 2026-04-16 it was 3.5 kg_dry', '2026-04-16 3.5 kg dry'],
  ['東京タワー a', '東京 京タ タワ ワー'],
  ['हिन्दी 한국어', 'हिन्दी 한국어'],
  ['" OR NEAR(x) * ^ {a} col:y -- \\', 'near x col y'],
  ['', ''],
  ['The Who', 'the who'],
  ['IT', 'it'],
  ['what is it? It is.', 'what is it it is'],
  ['what is IT support', 'support'],
])('the words of %j are %j', (text, words) => {
  expect(wordsOf(text).join(' ')).toBe(words);
});

test.each([
  ['concert The Who secretly', 'concert the who secretli'],
  ["Who's on IT’s tours, and who IS it?", 'who on it tour and is'],
  ['', ''],
])('every word of %j is %j', (text, words) => {
  expect([...everyWordOf(text)].join(' ')).toBe(words);
});

test('the words of a text are among every word of whatever it stands in', () => {
  const some = fc
    .array(fc.constantFrom('the', 'who', 'is', 'patients', "it's", '7', '東京', 'É', ' '))
    .map((all) => all.join(' '));
  fc.assert(
    fc.property(some, some, some, (before, text, after) => {
      const every = everyWordOf(`${before} ${text} ${after}`);
      expect(wordsOf(text).filter((word) => !every.has(word))).toEqual([]);
    }),
    { numRuns: 200 },
  );
  expect(everyWordOf(`${'wort '.repeat(12_000)}who`)).toEqual(new Set(['wort', 'who']));
});

test('a word has nothing in it that means something to a query language, and is its own word again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const word of wordsOf(text)) expect(word).toMatch(/^[\p{L}\p{M}\p{N}.-]+$/u);
    }),
    { numRuns: 50 },
  );
});

test('of a long text the first ten thousand words count, and of a long word 64 letters', () => {
  expect(wordsOf('wort '.repeat(12_000))).toHaveLength(10_000);
  expect(wordsOf('é'.repeat(100))).toEqual(['e'.repeat(64)]);
});

test('a fact is found by its day in numbers and in words, its names and its object', () => {
  const row = {
    subject: 'patient 7',
    predicate: 'takes',
    object: 'aspirin',
    asserted_from: '2026-04-06T09:00:00.000000Z',
    row_kind: 'current',
  } as const;
  expect(documentOf(row)).toBe('2026-04-06 6 April 2026 patient 7 takes aspirin');
  expect(documentOf({ ...row, asserted_from: '0000-01-01T00:00:00.000000Z' })).toBe('patient 7 takes aspirin');
  expect(wordsOfDocument(row)).toEqual(wordsOf(documentOf(row)));
  const who = { ...row, subject: 'The Who', predicate: 'is on', object: 'it and on tour' };
  expect(wordsOfDocument(who).join(' ')).toBe('2026-04-06 6 april 2026 the who is on tour');
  expect(stopWordsOfDocument(who).join(' ')).toBe('the who is on');
  const witness = {
    winner: 'a',
    loser: 'b',
    members: [
      { claim: 'a', object: 'ibuprofen' },
      { claim: 'b', object: 'codeine' },
    ],
  };
  const lost = (object: string) => documentOf({ ...row, row_kind: 'audit', object }).replace(/^.* takes /, '');
  expect([JSON.stringify(witness), '{}', 'null', '7', 'text'].map(lost)).toEqual([
    'codeine',
    '{}',
    'null',
    '7',
    'text',
  ]);
});
