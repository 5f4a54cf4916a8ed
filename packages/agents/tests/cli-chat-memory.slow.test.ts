/** The memory of a chat on the command line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keysOf } from '../../../tests/support/ledger/rows.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const anchor = keysOf(43);
const PLACE = ['chat', '--space', 'user:ida', '--user', 'ida', '--key', 'anchor.key'];
const MODEL = `
export const model = (prompt) => ({
  facts: prompt.split('\\n').filter((line) => line.startsWith('{"author"')).map((line) => JSON.parse(line)).map(
    ({ message, author, text }) => ({ message, subject: author, predicate: 'likes', object: text, confidence: 1, from: null, to: null }),
  ),
});
`;

let folder: string;
const assize = (...args: string[]): Promise<Ended> =>
  runCommand(folder, 'sqlite:./chat.db', ...args);
const file = (name: string, ...lines: readonly object[]): void =>
  writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-chat-'));
  writeFileSync(join(folder, 'anchor.key'), anchor.privateKey, { mode: 0o600 });
  writeFileSync(join(folder, 'chat.db.anchors.json'), JSON.stringify([anchor.publicKey]));
  writeFileSync(join(folder, 'model.ts'), MODEL);
  file(
    'chat.jsonl',
    { role: 'user', content: 'tea', at: '2026-03-01' },
    { role: 'system', content: 'rules' },
  );
  expect((await assize('create', 'chat', '--domain', 'chat')).code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a model remembers once, and the answers have all in --json', async () => {
  const first = await assize(
    'memory',
    'remember',
    'chat.jsonl',
    ...PLACE,
    '--model',
    'model.ts',
    '--json',
  );
  expect([first.code, first.err]).toEqual([0, '']);
  expect(JSON.parse(first.out)).toMatchObject({
    added: [{ subject: 'ida', object: 'tea' }],
    skipped: [],
    questions: [],
  });
  const again = await assize('memory', 'remember', 'chat.jsonl', ...PLACE, '--model', 'model.ts');
  expect([again.code, again.out]).toEqual([0, 'known ida likes tea\n']);
  const { facts, context, tokens } = JSON.parse(
    (await assize('memory', 'ask', 'tea', '--space', 'user:ida', '--json')).out,
  );
  expect(facts).toMatchObject([{ object: 'tea', space: 'user:ida' }]);
  expect(tokens).toBeGreaterThan(0);
  expect(context).toContain('"object":"tea"');
  const asText = await assize('memory', 'ask', 'tea', '--space', 'user:ida', '--context');
  expect(asText.out).toBe(`${context}\n`);
  const later = await assize('memory', 'ask', '--space', 'user:ida', '--system', '2026-01-01');
  expect(later.out).toBe('No facts found.\n');
});

test('a text with control characters is printed visibly', async () => {
  file('evil.jsonl', { role: 'user', content: 'x', at: '2026-03-01' });
  file('facts.jsonl', { message: 1, subject: 'ida', predicate: 'likes', object: 'a\u001b[31m\nb' });
  const said = await assize('memory', 'remember', 'evil.jsonl', ...PLACE, '--facts', 'facts.jsonl');
  expect(said.out.split('\n')).toHaveLength(2);
  expect(said.out).not.toContain('\u001b');
  const asked = await assize('memory', 'ask', '--space', 'user:ida', '--context');
  expect(asked.out).not.toContain('\u001b');
});

test('a repair lists first, and withdraws with --apply', async () => {
  const { facts } = JSON.parse(
    (await assize('memory', 'ask', 'tea', '--space', 'user:ida', '--json')).out,
  );
  const { id, sources } = facts[0];
  const repair = ['memory', 'repair', id.slice(0, 12), 'chat', '--space', 'user:ida'];
  // Listing needs no authority.
  const listed = (await assize(...repair)).out.split('\n');
  expect(listed[1]).toMatch(
    new RegExp(
      `^fact +ida +likes +tea +user:ida +${sources[0].entry.slice(0, 12)} +\\d{4}-\\d\\d-\\d\\d`,
    ),
  );
  expect(listed.slice(2)).toEqual([
    '1 statement to withdraw, with --apply. Nothing is recorded.',
    '',
  ]);
  // The root key of the store signs.
  const done = JSON.parse((await assize(...repair, '--apply', '--json')).out);
  expect(done).toMatchObject({ is_believed: true, ruling: { ruling: 'committed' } });
  expect((await assize('memory', 'ask', 'tea', '--space', 'user:ida')).out).toBe(
    'No facts found.\n',
  );
  const again = await assize('memory', 'remember', 'chat.jsonl', ...PLACE, '--model', 'model.ts');
  expect([again.code, again.out]).toEqual([
    0,
    expect.stringContaining('withdrawn ida likes tea: this message'),
  ]);
  expect((await assize(...repair)).out).toContain('is not believed');
});

test('a misspelt space is named, and the context of a small budget is empty', async () => {
  const ask = await assize('memory', 'ask', 'tea', '--space', 'user:idda');
  const hint = 'The store has no facts in "user:idda". Spaces with facts: user:ida.';
  expect(ask.out).toBe(`No facts found. ${hint}\n`);
  expect((await assize('memory', 'recall', '--space', 'user:idda')).out).toBe(
    `No facts found. ${hint}\n`,
  );
  for (const args of [['explain'], ['repair', 'abcdefab', 'chat']]) {
    const { code, err } = await assize('memory', ...args, '--space', 'user:idda');
    expect([code, err]).toEqual([expect.any(Number), expect.stringContaining(hint)]);
    expect(code).toBeGreaterThan(1);
  }
  const small = await assize('memory', 'ask', '--space', 'user:ida', '--context', '--budget', '1');
  expect([small.code, small.out, small.err]).toEqual([
    0,
    '',
    expect.stringContaining('Pass a larger --budget.'),
  ]);
  file('new.jsonl', { message: 1, subject: 'ida', predicate: 'likes', object: 'milk' });
  const place = ['chat', '--space', 'user:otto', '--key', 'anchor.key', '--facts', 'new.jsonl'];
  const added = 'added ida likes milk\nThe space user:otto is new.\n';
  expect((await assize('memory', 'remember', 'chat.jsonl', ...place)).out).toBe(added);
});

test('misuse is named, and nothing is recorded', async () => {
  const before = (await assize('log', 'chat', '--json')).out;
  file('none.jsonl');
  file('many.jsonl', ...Array.from({ length: 201 }, () => ({ role: 'user', content: 'x' })));
  file('soon.jsonl', { role: 'user', content: 'x', at: 'soon' });
  for (const [args, why] of [
    [['remember', 'chat.jsonl', ...PLACE], 'Pass --model FILE or --facts FILE.'],
    [
      ['remember', 'chat.jsonl', ...PLACE, '--model', 'model.ts', '--facts', 'facts.jsonl'],
      'exclude each other',
    ],
    [['remember', 'chat.jsonl', ...PLACE, '--metadata', 'x'], 'Pass NAME=VALUE.'],
    [['remember', 'facts.jsonl', ...PLACE, '--model', 'model.ts'], 'facts.jsonl, line 1'],
    [['remember', 'none.jsonl', ...PLACE, '--facts', 'facts.jsonl'], 'none.jsonl has no message'],
    [['remember', 'many.jsonl', ...PLACE, '--facts', 'facts.jsonl'], 'has 201 messages'],
    [
      ['remember', 'soon.jsonl', ...PLACE, '--facts', 'facts.jsonl'],
      'its time `at` cannot be read',
    ],
    [['ask', 'tea'], 'Pass --space NAME.'],
    [['ask', 'tea', '--space', 'a', '--cursor', 'x'], 'Repeat the recall without a cursor'],
    [['ask', '?!', '--space', 'a'], 'Give at least one word'],
    [
      ['repair', 'none', 'chat', '--space', 'user:ida'],
      'Pass the `id` of a fact that a recall returned',
    ],
  ] as const) {
    const { code, err, out } = await assize('memory', ...args);
    expect([code, out], `${args}: ${err}`).toEqual([expect.any(Number), '']);
    expect(code).toBeGreaterThan(1);
    expect(err).toContain(why);
  }
  expect((await assize('log', 'chat', '--json')).out).toBe(before);
});

test.each(['remember', 'ask', 'repair'])('%s has help with an example', async (name) => {
  const { code, out } = await assize('memory', name, '--help');
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`Examples?:\\s+assize memory ${name} `));
});
