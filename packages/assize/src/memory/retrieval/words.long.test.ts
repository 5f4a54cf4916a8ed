import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { OPEN_START } from '../period.ts';
import { documentOf, wordsOfDocument } from './document.ts';
import { stem } from './stem.ts';
import { everyWordOf, lettersOf, wordsOf } from './words.ts';

// The examples that the paper gives with its rules.
test.each([
  ['caresses caress', 'caress caress'],
  ['ponies ties cats', 'poni ti cat'],
  ['feed agreed plastered bled motoring sing', 'feed agre plaster bled motor sing'],
  [
    'conflated troubled sized hopping tanned falling hissing fizzed failing filing',
    'conflat troubl size hop tan fall hiss fizz fail file',
  ],
  ['happy sky', 'happi sky'],
  [
    'relational conditional rational valenci hesitanci digitizer',
    'relat condit ration valenc hesit digit',
  ],
  ['conformabli radicalli differentli vileli analogousli', 'conform radic differ vile analog'],
  [
    'vietnamization predication operator feudalism decisiveness',
    'vietnam predic oper feudal decis',
  ],
  [
    'hopefulness callousness formaliti sensitiviti sensibiliti',
    'hope callous formal sensit sensibl',
  ],
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
  ['東京タワー a', '東京 京た たわ わー'],
  ['ヒラガナ ひらがな ﾋﾗｶﾞﾅ', 'ひら らが がな ひら らが がな ひら らが がな'],
  ['user123 10mg p7 B12', 'user123 user 123 10mg 10 mg p7 b12'],
  [
    'iPhone15Pro 3rd deadbeef1a2b3c4d',
    'iphone15pro iphon 15 pro 3rd rd deadbeef1a2b3c4d phone15 pro',
  ],
  ['my e-mail, X-ray and a kebab-case a-b-c', 'e mail x rai kebab case b c email xrai'],
  ['हिन्दी 한국어', 'हिन्दी 한국어 한국 국어'],
  ['" OR NEAR(x) * ^ {a} col:y -- \\', 'near x col y'],
  [
    'Straße, STRASSE, STRAẞE; ΟΔΟΣ ὁδός; ISPARTA ısparta İsparta',
    'strass strass strass οδοσ οδοσ isparta isparta isparta',
  ],
  ['so\u00adft zero\u200bwidth \ufeffwords\u200f', 'soft zerowidth word'],
  ['שָׁלוֹם שלום', 'שלום לום שלום לום'],
  ['v1.2.3 2.0 v3', 'v1.2.3 1.2.3 1.2 2.0 v3 3'],
  ['userName HTTPServer', 'usernam httpserver user name http server'],
  ['Łódź Søren Ærø', 'lodz soren aero'],
  ['مُحَمَّدٌ محمد مـحـمـد أحمد', 'محمد محمد محمد احمد'],
  ["l'été d’une qu'elle dell’acqua", 'lete et dune un quell ell dellacqua acqua'],
  ["y'all they'd’ve Int'l Hallowe'en the boss’s o'er", 'yall theydv intl halloween boss oer'],
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

test('the words of a text are among all words of any text that contains it', () => {
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

const SPELT = [
  'Straße',
  'Ångström',
  'naïve',
  'ﬁne',
  "O'Brien",
  'l’été',
  'İzmir',
  'ışık',
  'ὁδός',
  'שָׁלוֹם',
  'مُحَمَّدٌ',
  'हिन्दी',
  'が',
  '東京都',
];
const UNSEEN = ['\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u061c', '\u034f'];
const spelling = fc.constantFrom<(word: string) => string>(
  (word) => word,
  (word) => word.toUpperCase(),
  (word) => word.toLowerCase(),
  (word) => word.normalize('NFD'),
  (word) => word.normalize('NFKC'),
  (word) => word.normalize('NFD').replace(/[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]/g, ''),
  (word) => word.replace('’', "'"),
  ...UNSEEN.map((unseen) => (word: string) => [...word].join(unseen)),
);

test('a text is found by each word in any spelling, also after an elision', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...SPELT), spelling, spelling), { minLength: 1 }),
      (drawn) => {
        const object = drawn.map(([word, as]) => as(word)).join(' ');
        const indexed = new Set(
          wordsOfDocument({
            subject: 's',
            predicate: 'p',
            object,
            asserted_from: '2026-04-06T09:00:00.000000Z',
            row_kind: 'current',
          }),
        );
        for (const [word, , as] of drawn)
          for (const sought of [
            word,
            ...(word === 'l’été'
              ? ['d’été', 'été', "l'été"]
              : word === '東京都'
                ? [...word, '京都']
                : []),
          ]) {
            expect(wordsOf(as(sought)).length).toBeGreaterThan(0);
            const isElided = sought.startsWith('d');
            expect(
              wordsOf(as(sought))
                .slice(isElided ? 1 : 0)
                .filter((one) => !indexed.has(one)),
            ).toEqual([]);
          }
      },
    ),
    { numRuns: 300 },
  );
});

test('a letter of Unicode is one word in each case, composed and decomposed', () => {
  // An iota subscript follows its capital. Unicode has capitals of these nine forms, found only in
  // old prints.
  const isOther = /[\u0345\u1c80-\u1c88]/;
  const other: string[] = [];
  for (let code = 0xa0; code < 0x20000; code++) {
    const letter = String.fromCodePoint(code);
    if (!/\p{L}/u.test(letter) || isOther.test(letter.normalize('NFD'))) continue;
    const [word] = wordsOf(letter);
    for (const form of [
      letter.toUpperCase(),
      letter.toLowerCase(),
      letter.normalize('NFD'),
      letter.normalize('NFKC'),
    ])
      if (wordsOf(form)[0] !== word) other.push(`${letter} ${form}`);
  }
  expect(other).toEqual([]);
});

test.each([
  ['민수는 서울에 산다', '서울'],
  ['페니실린은 안 된다', '페니실린'],
  ['김철수가 승인했다', '김철수'],
  ['커피', '커피를 마신다'],
  ['차를 샀다', '차'],
  ['차', '차를 샀다'],
  ['GPT가', 'gpt'],
  ['東京に住む', '東京'],
  ['ꦧꦱꦗꦮ', 'ꦱꦗ'],
  ['ㄅㄆㄇ', 'ㄆㄇ'],
  ['كتاب', 'الكتاب'],
  ['بيت', 'والبيت'],
  ['علی', 'علي'],
  ['ספר', 'הספר'],
  ['٢٠٢٦ २०२७', '2026'],
  ['Lodz', 'Łódź'],
  ['Soren', 'Søren'],
  ['Dordevic', 'Đorđević'],
  ['aegir', 'Ægir'],
  ['thor', 'Þór'],
  ['user name', 'userName'],
  ['username', 'userName'],
  ['HTTP server', 'HTTPServer'],
  ['v1.2.3', '1.2.3'],
  ['1.2', 'v1.2.3'],
  ['version 2', 'v2'],
])('a search for %j finds %j', (asked, said) => {
  const query = new Set(wordsOf(asked));
  const row = {
    subject: 's',
    predicate: 'p',
    object: said,
    asserted_from: OPEN_START,
    row_kind: 'current',
  } as const;
  expect(wordsOfDocument(row).filter((word) => query.has(word))).not.toEqual([]);
  // An erasure finds every word that a search finds.
  const every = everyWordOf(said);
  expect(wordsOf(said).filter((word) => !every.has(word))).toEqual([]);
});

test('words of long names, versions and runs take time in proportion', () => {
  const long = 100_000;
  for (const text of [
    'aB'.repeat(long),
    'a'.repeat(long),
    'A'.repeat(long),
    '1.'.repeat(long),
    '서'.repeat(long),
  ]) {
    const start = performance.now();
    expect(wordsOf(text).length).toBeLessThanOrEqual(2 * 10_000);
    expect(performance.now() - start).toBeLessThan(2_000);
  }
});

test('single letters are Han letters without spaces, and Hangul syllables', () => {
  expect(lettersOf('東京タワー 茶 お茶 ひらがな ﹙株﹚ ㍿ abc 한국').join(' ')).toBe(
    '東 京 茶 株 式 会 社 한 국',
  );
  expect(wordsOf('茶')).toEqual(['茶']);
});

test('a word has no query syntax, and splits into itself again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const word of wordsOf(text)) expect(word).toMatch(/^[\p{L}\p{M}\p{N}.-]+$/u);
    }),
    { numRuns: 50 },
  );
});

test('ten thousand words of a long text count, and 64 letters of a long word', () => {
  expect(wordsOf('wort '.repeat(12_000))).toHaveLength(10_000);
  expect(wordsOf('é'.repeat(100))).toEqual(['e'.repeat(64)]);
});

test('the text after many elisions is inspected only where it counts', () => {
  const replaced = vi.spyOn(String.prototype, 'replace');
  onTestFinished(() => replaced.mockRestore());
  const words = wordsOf("l'a".repeat(2_000));
  const length = replaced.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
  // Of all that follows each it was 8 million.
  expect(length).toBeLessThan(100_000);
  expect([words.length, words[0], ...words.slice(-2)]).toEqual([
    2_000,
    'la'.repeat(32),
    'alala',
    'ala',
  ]);
  // The counted part of a text may end with half a letter.
  expect(wordsOf(`l'a${'𐐨'.repeat(70)}`)).toEqual([`la${'𐐨'.repeat(62)}`, `a${'𐐨'.repeat(63)}`]);
});

test('a fact is found by its day in numbers and words, its names and object', () => {
  const row = {
    subject: 'patient 7',
    predicate: 'takes',
    object: 'aspirin',
    asserted_from: '2026-04-06T09:00:00.000000Z',
    row_kind: 'current',
  } as const;
  expect(documentOf(row)).toBe('2026-04-06 6 April 2026 patient 7 takes aspirin');
  expect(documentOf({ ...row, asserted_from: '0000-01-01T00:00:00.000000Z' })).toBe(
    'patient 7 takes aspirin',
  );
  expect(wordsOfDocument(row)).toEqual(wordsOf(documentOf(row)));
  const who = { ...row, subject: 'The Who', predicate: 'is on', object: 'it and on tour' };
  expect(wordsOfDocument(who).join(' ')).toBe('2026-04-06 6 april 2026 the who is on tour');
  const tokyo = { ...row, object: '東京タワー' };
  expect(wordsOfDocument(tokyo).slice(-6).join(' ')).toBe('東京 京た たわ わー 東 京');
  const witness = {
    winner: 'a',
    loser: 'b',
    members: [
      { claim: 'a', object: 'ibuprofen' },
      { claim: 'b', object: 'codeine' },
    ],
  };
  const lost = (object: string) =>
    documentOf({ ...row, row_kind: 'audit', object }).replace(/^.* takes /, '');
  expect([JSON.stringify(witness), '{}', 'null', '7', 'text'].map(lost)).toEqual([
    'codeine',
    '{}',
    'null',
    '7',
    'text',
  ]);
});

test.each([
  ['kept', 'true'],
  ['erased', 'false'],
  ['closed', 'false'],
])('a word is in the memory of its process where it was %s: %s', (how, isThere) => {
  const program = join(
    import.meta.dirname,
    '../../../../../tests/support/clinic/heap-after-erasure.ts',
  );
  const printed = execFileSync(process.execPath, ['--expose-gc', program, how], {
    encoding: 'utf8',
  });
  expect(printed).toBe(`${isThere}\n`);
});
