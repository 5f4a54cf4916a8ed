/** The memory of a chat on the command line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keysOf } from '../support/ledger/rows.ts';
import { type Ended, runCommand } from '../support/process/command.ts';

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
const assize = (...args: string[]): Promise<Ended> => runCommand(folder, 'sqlite:./chat.db', ...args);
const file = (name: string, ...lines: readonly object[]): void =>
  writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-chat-'));
  writeFileSync(join(folder, 'anchor.key'), anchor.privateKey, { mode: 0o600 });
  writeFileSync(join(folder, 'chat.db.anchors.json'), JSON.stringify([anchor.publicKey]));
  writeFileSync(join(folder, 'model.ts'), MODEL);
  file('chat.jsonl', { role: 'user', content: 'tea', at: '2026-03-01' }, { role: 'system', content: 'rules' });
  expect((await assize('create', 'chat', '--domain', 'chat')).code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a model remembers once, and the answers have all in --json', async () => {
  const first = await assize('memory', 'remember', 'chat.jsonl', ...PLACE, '--model', 'model.ts', '--json');
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
  const { facts } = JSON.parse((await assize('memory', 'ask', 'tea', '--space', 'user:ida', '--json')).out);
  const repair = ['memory', 'repair', facts[0].id, 'chat', '--space', 'user:ida', '--key', 'anchor.key'];
  expect((await assize(...repair)).out).toBe(
    'withdraw ida likes tea (user:ida)\n1 fact to withdraw; nothing is recorded\n',
  );
  const done = JSON.parse((await assize(...repair, '--apply', '--json')).out);
  expect(done).toMatchObject({ is_believed: true, ruling: { ruling: 'committed' } });
  expect((await assize('memory', 'ask', 'tea', '--space', 'user:ida')).out).toBe('No facts found.\n');
});

test('misuse is named, and nothing is recorded', async () => {
  const before = (await assize('log', 'chat', '--json')).out;
  for (const [args, why] of [
    [['remember', 'chat.jsonl', ...PLACE], 'Pass --model FILE or --facts FILE.'],
    [['remember', 'chat.jsonl', ...PLACE, '--model', 'model.ts', '--facts', 'facts.jsonl'], 'exclude each other'],
    [['remember', 'chat.jsonl', ...PLACE, '--metadata', 'x'], 'Pass NAME=VALUE.'],
    [['remember', 'facts.jsonl', ...PLACE, '--model', 'model.ts'], 'facts.jsonl, line 1'],
    [['ask', 'tea'], 'Pass --space NAME.'],
    [['ask', 'tea', '--space', 'a', '--cursor', 'x'], 'Repeat the recall without a cursor'],
    [['ask', '?!', '--space', 'a'], 'Give at least one word'],
    [['repair', 'none', 'chat', '--space', 'a', '--key', 'anchor.key'], 'has no fact none'],
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
