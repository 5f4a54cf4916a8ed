/** The input that `assize memory` refuses with a named error, and with nothing written. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProcess } from '../../../tests/support/process/command.ts';
import { AUTHORITY, inWardFolder, read, say, WARD } from './support/process/ward-folder.ts';

const here = inWardFolder();
const { assize, json, file } = here;

const nothing = [
  'memory',
  'assert',
  'notes',
  '--space',
  's',
  '--subject',
  'x',
  '--predicate',
  'takes',
  '--object',
  'y',
];

test.each<[string, () => string[], RegExp]>([
  ['no authority', () => nothing, /has no root key\. Pass .* with --key FILE/],
  ['two authorities', () => [...nothing, '--writ', 'w', '--key', 'k'], /cannot be used with/],
  [
    'the key of somebody else',
    () => [...nothing, '--key', 'other.key'],
    /is not an anchor of the store/,
  ],
  ['an invalid writ', () => [...nothing, '--writ', file('w.json', '{}')], /w\.json: /],
  [
    'no such trajectory',
    () => say('assert', 'takes', '--object', 'x').map((each) => (each === 'notes' ? 'gone' : each)),
    /no trajectory gone/,
  ],
  ['no space', () => ['memory', 'recall'], /--space/],
  ['no object', () => say('assert', 'takes'), /--object/],
  ['no period', () => say('retract', 'takes'), /--from/],
  [
    'no instant',
    () => say('assert', 'takes', '--object', 'x', '--from', 'yesterday'),
    /It must be an instant such as/,
  ],
  [
    'no such day',
    () => say('assert', 'takes', '--object', 'x', '--from', '2026-02-30'),
    /It must be an instant such as/,
  ],
  ['too sure', () => say('assert', 'takes', '--object', 'x', '--confidence', '1.1'), /from 0 to 1/],
  [
    'no number',
    () => say('assert', 'takes', '--object', 'x', '--confidence', 'high'),
    /from 0 to 1/,
  ],
  ...['NaN', 'Infinity', '-0.5', ''].flatMap((sure): [string, () => string[], RegExp][] =>
    ['assert', 'change', 'correct'].map((verb) => [
      `${verb} with the confidence '${sure}'`,
      () => [
        ...say(verb, 'takes', '--object', 'x', `--confidence=${sure}`),
        ...(verb === 'correct' ? ['--from', '2026-02-01', '--to', 'open'] : []),
      ],
      /It must be a number from 0 to 1/,
    ]),
  ),
  ['no kind', () => read('recall', '--kind', 'lost'), /current, audit, all/],
  [
    'no relation',
    () => read('recall', '--relation', 'near', '--of', '2026-01-01/open'),
    /'near' is not one of before/,
  ],
  [
    'a relation to nothing',
    () => read('recall', '--relation', 'during'),
    /--relation and --of need each other/,
  ],
  [
    'no period to relate to',
    () => read('recall', '--relation', 'during', '--of', '2026-01-01'),
    /It must be FROM\/TO/,
  ],
  [
    'a period that is reversed',
    () => read('recall', '--relation', 'during', '--of', '2026-02-01/2026-01-01'),
    /ends before its start/,
  ],
  ['a way without a text', () => read('recall', '--by', 'text'), /need --text/],
  ['no embedder', () => read('recall', '--text', 'x', '--by', 'hybrid'), /need --embedder/],
  [
    'an embedder for words',
    () => read('recall', '--text', 'x', '--by', 'text', '--embedder', 'e.ts'),
    /mode text excludes it/,
  ],
  [
    'no module',
    () => read('recall', '--text', 'x', '--embedder', 'none.ts'),
    /embedder file .* does not exist/,
  ],
  [
    'a module without one',
    () => read('recall', '--text', 'x', '--embedder', 'ward.ts'),
    /exports 0 embedders/,
  ],
  [
    'a way to compare nothing',
    () => read('recall', '--text', 'x', '--vectors', 'exact'),
    /needs --embedder/,
  ],
  [
    'no way to compare',
    () => read('recall', '--text', 'x', '--vectors', 'near'),
    /exact, sqlite-vec/,
  ],
  ['nothing to look for', () => read('recall', '--text', ' '), /text has no words/],
  [
    'too many',
    () => read('recall', '--limit', '10001'),
    /--limit is too large\. Pass at most 10000/,
  ],
  ['none at all', () => read('recall', '--limit', '0'), /whole number from 1/],
  ['one point', () => read('diff'), /Both points are the current time/],
  [
    'a fact by too little',
    () => read('explain', '--fact', 'da3d'),
    /'da3d' is not a fact id\. Pass its first 8 to 64 hex digits/,
  ],
  ['a fact by no id', () => read('explain', '--fact', 'zzzzzzzzzz'), /is not a fact id/],
  ['nothing but signs to look for', () => read('recall', '--text', '???'), /text has no words/],
  ['no such fact', () => read('explain', '--fact', 'deadbeef'), /The store has no facts/],
  [
    'an empty subject',
    () => [...say('assert', 'takes', '--object', 'x'), '--subject', ''],
    /'--subject <name>' .*It must not be empty/,
  ],
  [
    'an empty space',
    () => [...say('assert', 'takes', '--object', 'x'), '--space', ''],
    /'--space <name>' .*It must not be empty/,
  ],
  [
    'an empty source',
    () => say('assert', 'takes', '--object', 'x', '--source', ''),
    /'--source <name>' .*It must not be empty/,
  ],
  [
    'a subject that is not composed',
    () => [...say('assert', 'takes', '--object', 'x'), '--subject', 'e\u0301'],
    /'--subject <name>' .*NFC/,
  ],
  [
    'a predicate that nobody declares',
    () => say('assert', 'likes', '--object', 'x'),
    /The domain ward declares no predicate "likes" in its memory\. Name one of: .*diagnosis, .*takes/,
  ],
  [
    'a reversed period',
    () => say('assert', 'takes', '--object', 'x', '--from', '2026-02-02', '--to', '2026-02-01'),
    /The period ends before its start/,
  ],
  [
    'an empty period',
    () => say('retract', 'takes', '--from', '2026-02-02', '--to', '2026-02-02'),
    /ends at its start/,
  ],
  [
    'a period that is over before it begins now',
    () => say('assert', 'takes', '--object', 'x', '--to', '2020-01-01'),
    /ends in the past .* with --from/,
  ],
  ['no such entry', () => ['blast', 'dependents', 'deadbeef'], /no entry deadbeef/],
  [
    'no file to import',
    () => ['memory', 'import', 'none.jsonl', 'notes', '--space', 's', ...AUTHORITY],
    /none\.jsonl cannot be read/,
  ],
  [
    'too large a batch',
    () => [
      'memory',
      'import',
      file('a', ''),
      'notes',
      '--space',
      's',
      ...AUTHORITY,
      '--batch',
      '201',
    ],
    /--batch is too large\. Pass at most 200/,
  ],
  [
    'an answer where nothing is asked',
    () => ['approve', 'deadbeef', '--as', 'x', '--answer', '1'],
    /no entry deadbeef/,
  ],
])('%s is misuse', async (_what, args, saying) => {
  const { code, out, err } = await assize(...args());
  expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringMatching(saying) });
  expect((await json(0, 'log', 'notes')).entries).toBe(1);
});

test.each([
  [
    'strategy',
    "{ cardinality: 'single-valued', strategy: 'newest' }",
    /expected one of "lww"\|"lww-valid"\|"evi"/,
  ],
  [
    'cardinality',
    "{ cardinality: 'many', strategy: 'lww' }",
    /expected one of "single-valued"\|"multi-valued"/,
  ],
  [
    'remainder',
    "{ cardinality: 'single-valued', strategy: 'lww', remainder: 'some' }",
    /expected one of "keep"\|"drop"/,
  ],
])('a domain with an unknown %s in a predicate is misuse', async (member, declared, wanted) => {
  const domain = `${WARD}
export const wrong = defineDomain({
  name: 'wrong', version: '1', state: z.object({}), initial: {}, processes: {}, roles: {}, actions: {}, invariants: [],
  memory: { predicates: { takes: ${declared} } },
});
`;
  writeFileSync(join(here.folder, 'wrong.ts'), domain);
  const wrong = (args: string[]): string[] =>
    args.map((arg) => (arg === 'ward.ts' ? 'wrong.ts' : arg));
  const lines = file('good.jsonl', { subject: 'x', predicate: 'takes', object: 'y' });
  for (const args of [
    say('assert', 'takes', '--object', 'x'),
    ['memory', 'import', lines, 'notes', '--space', 's', ...AUTHORITY],
  ]) {
    const { code, out, err } = await assize(...wrong(args));
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringMatching(wanted) });
    expect(err).toContain(`memory/predicates/takes/${member}`);
    expect((await json(2, ...wrong(args))).error.code).toBe('bad_input');
  }
  expect((await json(0, 'log', 'notes')).entries).toBe(1);
});

const good = { subject: 'x', predicate: 'takes', object: 'y' };

test.each<[string, unknown, RegExp]>([
  ['no JSON', '{', /bad\.jsonl, line 2 is not JSON/],
  ['an empty line', '', /line 2 is not JSON/],
  ['a member that is not known', { ...good, until: '2026' }, /line 2.*until/],
  ['no object', { subject: 'x', predicate: 'takes' }, /line 2, \/object/],
  [
    'a misspelled object',
    { subject: 'x', predicate: 'takes', objekt: 'y' },
    /line 2: .*"objekt"; \/object: /,
  ],
  ['an empty subject', { ...good, subject: '' }, /line 2, \/subject: /],
  ['a subject that is not composed', { ...good, subject: 'e\u0301' }, /line 2: .*NFC/],
  ['a predicate of nobody', { ...good, predicate: 'likes' }, /line 2: .*no predicate "likes"/],
  ['no instant', { ...good, from: 'monday' }, /line 2: \/from: /],
  ['no such end', { ...good, to: '2026-02-30' }, /line 2: \/to: .*no such day/],
  [
    'a period that is reversed',
    { ...good, from: '2026-02-02', to: '2026-02-01' },
    /line 2: .*ends before its start/,
  ],
  [
    'a period that is empty',
    { ...good, from: '2026-02-02', to: '2026-02-02' },
    /line 2: .*ends at its start/,
  ],
  ['what ended before it began now', { ...good, to: '2020-01-01' }, /line 2: .*ends in the past/],
  ['too sure', { ...good, confidence: 2 }, /line 2, \/confidence/],
  [
    'a confidence that is not a number',
    '{"subject":"x","predicate":"takes","object":"y","confidence":NaN}',
    /line 2 is not JSON/,
  ],
  ['an empty source', { ...good, source: '' }, /line 2: /],
])('a line with %s is named, and nothing is written', async (_what, line, saying) => {
  const name = file('bad.jsonl', good, line);
  const { code, out, err } = await assize(
    'memory',
    'import',
    name,
    'notes',
    '--space',
    's',
    ...AUTHORITY,
  );
  expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringMatching(saying) });
  expect(err).toContain('Nothing was written');
  expect((await json(0, 'log', 'notes')).entries).toBe(1);
});

test('with --json the error has each misfit of a line', async () => {
  const name = file('bad.jsonl', good, {
    subject: 'x',
    predicate: 'takes',
    objekt: 'y',
    confidence: 2,
  });
  const { error } = await json(2, 'memory', 'import', name, 'notes', '--space', 's', ...AUTHORITY);
  expect(error.findings.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '',
    '/object',
    '/confidence',
  ]);
});

test('a domain without a memory is reported by name', async () => {
  const said = say('assert', 'takes', '--object', 'x').map((each) =>
    each === 'notes' ? 'bare' : each,
  );
  const { code, out, err } = await assize(...said);
  expect([code, out, err]).toEqual([2, '', expect.stringContaining('Declare its memory first')]);
});

test('an embedder that fails or never answers is reported as such', async () => {
  await assize(...say('assert', 'takes', '--object', 'x'));
  const embedder = (name: string, embed: string) =>
    file(
      name,
      `export const embedder = { id: 'odd', dimensions: 2, embed: async () => { ${embed} } };`,
    );
  const asked = (name: string) => [...read('recall', '--text', 'x', '--json', '--embedder'), name];
  const down = asked(embedder('down.mjs', "throw new Error('It is down.')"));
  // By words and meaning, the words are left.
  const byWords = await assize(...down);
  expect([byWords.code, JSON.parse(byWords.out)]).toMatchObject([
    0,
    {
      facts: [{ object: 'x' }],
      fallback: { by: 'text', cause: expect.stringContaining('It is down') },
    },
  ]);
  const failed = await assize(...down, '--by', 'embedding');
  expect([failed.code, JSON.parse(failed.out)]).toEqual([
    2,
    {
      error: {
        code: 'bad_input',
        message: expect.stringMatching(
          /^The embedder of down\.mjs failed: \S+down\.mjs:1: It is down\.$/,
        ),
      },
    },
  ]);
  // By itself: with nothing left to do, a process ends.
  const silent = asked(embedder('silent.mjs', 'return new Promise(() => {})'));
  const ended = await runProcess(here.folder, 'sqlite:./ward.db', ...silent);
  expect(ended.code, ended.err).toBe(2);
  expect(JSON.parse(ended.out)).toEqual({
    error: { code: 'bad_input', message: expect.stringContaining('The command cannot finish') },
  });
});
