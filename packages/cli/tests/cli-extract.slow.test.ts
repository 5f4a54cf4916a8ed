/** Statements that a model finds in messages, from the command line. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keysOf } from '../../../tests/support/ledger/rows.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');
const assizeModule = pathToFileURL(join(root, 'packages/assize/src/public/index.ts'));
const anchor = keysOf(43);

const WARD = `
import { defineDomain } from '${assizeModule}';
import { z } from '${pathToFileURL(join(root, 'node_modules/zod/index.js'))}';
const bare = { version: '1', state: z.object({}), initial: {}, processes: {}, roles: {}, actions: {}, invariants: [] };
export const ward = defineDomain({
  ...bare, name: 'ward', counselors: { doctor: () => true },
  memory: {
    predicates: {
      allergy: { cardinality: 'multi-valued', strategy: 'lww', description: 'what must not be given' },
      diagnosis: { cardinality: 'single-valued', strategy: 'await', channel: 'doctor' },
    },
  },
});
export const forgetful = defineDomain({ ...bare, name: 'forgetful' });
`;

const MAKE = `
import { Assize, openStore } from '${assizeModule}';
import { forgetful, ward } from './ward.ts';
const store = await openStore('sqlite:./ward.db');
const assize = new Assize({ store, domains: [ward, forgetful], anchors: [process.argv[2]] });
await assize.create(ward, { trajectoryId: 'notes' });
await assize.create(forgetful, { trajectoryId: 'bare' });
await store.close();
`;

/** Finds what is written as "predicate: object", and writes down how often it was asked. */
const MODEL = `
import { appendFileSync } from 'node:fs';
export const theta = { model_version: 'stub-1' };
export const model = (prompt, schema) => {
  appendFileSync('asked', 'x');
  if (!schema.properties.facts) throw new Error('no schema');
  const messages = prompt.split('\\n').filter((line) => line.startsWith('{"author"')).map((line) => JSON.parse(line));
  return '\`\`\`json\\n' + JSON.stringify({ facts: messages.flatMap(({ message, author, text }) => {
    if (text === 'fail') throw new Error('It is down.');
    const [, predicate, object] = /(\\w+): (.*)/.exec(text) ?? [];
    return predicate === undefined ? [] : [{ message, subject: author, predicate, object, confidence: 1, from: null, to: null }];
  }) }) + '\\n\`\`\`';
};
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-extract-'));
  writeFileSync(join(folder, 'ward.ts'), WARD);
  writeFileSync(join(folder, 'make.ts'), MAKE);
  writeFileSync(join(folder, 'model.ts'), MODEL);
  writeFileSync(join(folder, 'none.ts'), 'export const other = 1;');
  writeFileSync(join(folder, 'asked'), '');
  writeFileSync(join(folder, 'ward.db.anchors.json'), JSON.stringify([anchor.publicKey]));
  writeFileSync(join(folder, 'anchor.key'), `${anchor.privateKey}\n`);
  execFileSync(process.execPath, ['make.ts', anchor.publicKey], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const assize = (...args: string[]): Promise<Ended> =>
  runCommand(folder, 'sqlite:./ward.db', ...args);
const asked = (): number => readFileSync(join(folder, 'asked'), 'utf8').length;
const KEY = ['--key', 'anchor.key'];

function extract(messages: readonly object[], ...args: string[]): Promise<Ended> {
  writeFileSync(
    join(folder, 'mails.jsonl'),
    messages.map((message) => `${JSON.stringify(message)}\n`).join(''),
  );
  const space = ['--space', 'ward-3', '--domain', 'ward.ts'];
  return assize(
    'memory',
    'extract',
    'mails.jsonl',
    'notes',
    ...space,
    '--model',
    'model.ts',
    ...args,
  );
}

async function json(code: number, ended: Promise<Ended>): Promise<any> {
  const { code: found, out, err } = await ended;
  expect(found, err + out).toBe(code);
  return JSON.parse(out);
}

const MAILS = [
  { id: 'mail 1', author: 'ida', at: '2026-03-20', text: 'allergy: nuts' },
  { author: 'otto', at: '2026-03-20T10:00:00+02:00', text: 'hello' },
  { author: 'otto', text: 'diagnosis: flu' },
];

test('shows the facts to assert, asserts them, and asks the model only once', async () => {
  const reference = ['--reference', '2026-03-21'];
  const shown = await extract(MAILS, '--authors', ...reference, '--dry-run');
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).toMatch(/^ida +allergy +nuts +1 +2026-03-20 to open +mail 1$/m);
  expect(shown.out).toMatch(
    /^otto +diagnosis +flu +1 +2026-03-21 to open +sha256:[0-9a-f]{64}#3$/m,
  );
  expect(shown.out).toMatch(/^3 messages read in 1 answer, 2 facts found; no fact asserted$/m);
  expect(await json(0, assize('memory', 'recall', '--space', 'ward-3', '--json'))).toMatchObject({
    facts: [],
  });
  const said = await extract(MAILS, '--authors', ...reference, ...KEY);
  expect(said).toMatchObject({
    code: 0,
    out: '3 messages read in 1 answer, 2 facts found: 2 commits, 2 facts added\n',
  });
  expect(asked()).toBe(1);
  const again = await json(0, extract(MAILS, '--authors', ...reference, ...KEY, '--json'));
  expect(again).toMatchObject({
    messages: 3,
    answers: 1,
    commits: 2,
    believed: 0,
    refused: [],
    dry_run: false,
  });
  expect(asked()).toBe(1);
  const [{ entry_id }] = (await json(0, assize('memory', 'recall', '--space', 'ward-3', '--json')))
    .facts;
  const { payload } = await json(0, assize('show', entry_id, '--json'));
  expect(payload.observations.map(({ name }: { name: string }) => name)).toEqual([
    'messages',
    'extraction',
  ]);
  await extract(MAILS, '--authors', ...reference, '--dry-run', '--sample', '1');
  expect(asked()).toBe(2);
});

test('names pending and failing messages by line, and the lines read before', async () => {
  const otto = (text: string): object => ({ author: 'otto', at: '2026-03-22', text });
  const waits = await extract(
    [otto('diagnosis: measles'), otto('hello')],
    '--any-subject',
    ...KEY,
    '--batch',
    '1',
  );
  expect(waits.code).toBe(1);
  expect(waits.out).toMatch(/^line 1 pending for doctor as [0-9a-f]{12}: /);
  const undeclared = await extract(
    [otto('allergy: soap'), otto('mood: bad')],
    '--authors',
    '--batch',
    '1',
    ...KEY,
  );
  expect(undeclared).toMatchObject({ code: 2, out: '' });
  expect(undeclared.err).toMatch(
    /mails\.jsonl, line 2: .* attempt 3 of 3: \/facts\/0\/predicate: no predicate "mood" is declared.*Line 1 was read/,
  );
  const others = await extract(
    [otto('allergy: soap')],
    '--subject',
    'ida',
    '--subject',
    'eve',
    ...KEY,
  );
  expect(others.err).toContain('nothing may be said of this subject');
  for (const [messages, args, why] of [
    [
      [otto('fail')],
      ['--authors'],
      /The model of .*model\.ts failed: .*model\.ts:9: It is down\. No fact was asserted\./,
    ],
    [[{ ...otto('x'), at: 'today' }], ['--authors'], /line 1: The instant is not valid/],
    [
      [otto('x'), { author: 'a', text: 'x' }],
      ['--authors'],
      /line 2: Message 2 is not valid: it has no time/,
    ],
    [[{ ...otto('x'), more: 1 }], ['--authors'], /line 1: /],
    [[otto('x')], [], /The allowed subjects are missing or ambiguous/],
    [[otto('x')], ['--authors', '--any-subject'], /The allowed subjects are missing or ambiguous/],
    [[otto('x')], ['--authors', '--batch', '201'], /--batch is too large\. Pass at most 200/],
    [[otto('x')], ['--authors', '--confidence-max', '2'], /from 0 to 1/],
    [[otto('x')], ['--authors', '--model', 'none.ts'], /exports no function model/],
    [
      [otto('x')],
      ['--authors', '--model', 'absent.ts'],
      /The model file .*absent\.ts does not exist\. Name a module/,
    ],
  ] as const) {
    const { code, err } = await extract(messages, ...args, ...KEY);
    expect([code, err]).toEqual([2, expect.stringMatching(why)]);
  }
  const bare = [
    'mails.jsonl',
    'bare',
    '--space',
    's',
    '--domain',
    'ward.ts',
    '--model',
    'model.ts',
    '--authors',
  ];
  expect((await assize('memory', 'extract', ...bare, ...KEY)).err).toContain(
    'The domain forgetful declares no memory',
  );
  const unauthorised = await extract([otto('x')], '--authors');
  expect(unauthorised.err).toContain('no root key');
});

test('a withdrawn message takes the facts that rests-on lists, and no others', async () => {
  const said = (id: string, object: string) => ({
    id,
    author: 'eve',
    at: '2026-03-20',
    text: `allergy: ${object}`,
  });
  await extract(
    [said('mail 7', 'dust'), said('mail 8', 'dust'), said('mail 7b', 'wool')],
    '--authors',
    ...KEY,
  );
  const where = ['--space', 'ward-3'];
  const rests = await json(
    0,
    assize('memory', 'rests-on', ...where, '--source', 'mail 7', '--json'),
  );
  expect(rests.facts).toMatchObject([{ fact: { object: 'dust' }, stays: true }]);
  const explained = await assize(
    'memory',
    'explain',
    ...where,
    '--subject',
    'eve',
    '--fact',
    rests.facts[0].fact.fact_id,
  );
  expect(explained.out).toContain('sources mail 7, mail 8');
  const withdraw = (source: string) =>
    assize(
      'memory',
      'withdraw',
      'notes',
      ...where,
      '--source',
      source,
      '--domain',
      'ward.ts',
      ...KEY,
    );
  expect((await withdraw('mail 7')).out).toContain(
    '1 fact rested on the source; 1 fact of them still believed',
  );
  expect((await withdraw('mail 8')).out).toContain(
    '1 fact rested on the source; 0 facts of them still believed',
  );
  const { facts } = await json(
    0,
    assize('memory', 'recall', ...where, '--subject', 'eve', '--json'),
  );
  expect(facts.map(({ object }: { object: string }) => object)).toEqual(['wool']);
  expect(await withdraw('mail 8')).toMatchObject({
    code: 2,
    err: expect.stringContaining('No fact and no pending proposal rests on'),
  });
  expect((await assize('memory', 'rests-on', ...where, '--source', 'mail 8')).code).toBe(1);
  expect((await assize('memory', 'rests-on', ...where)).err).toContain('Pass one of --source');
});

test('a wrong fact of the model is left out, and the others are asserted', async () => {
  const mails = [
    { id: 'mail 9', author: 'mia', at: '2026-03-20', text: 'allergy: cats' },
    { id: 'mail 10', author: 'mia', at: '2026-03-20', text: 'mood: bad' },
  ];
  const read = await json(1, extract(mails, '--authors', '--json', ...KEY));
  expect(read).toMatchObject({ commits: 1, claims: [{ object: 'cats' }] });
  expect(read.left_out).toMatchObject([
    { lines: { from: 1, to: 2 }, fact: 1, why: expect.stringContaining('"mood"') },
  ]);
});
