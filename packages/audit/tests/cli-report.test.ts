/** `assize report`, as a process of its own, on the ledger of the demo. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OPERATIONS } from '@assize/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FRAMEWORKS } from '#compliance';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';
import { ASSIZE } from '../../cli/src/program.ts';

const store = 'sqlite:./assize-demo.db';
let folder: string;
const assize = (...args: readonly string[]): Promise<Ended> => runCommand(folder, store, ...args);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-report-'));
  expect((await assize('demo')).code).toBe(0);
  copyFileSync(join(folder, 'assize-demo.db'), join(folder, 'plain.db'));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('gaps are an exit code of 1, and the same size gives the same bytes', async () => {
  const first = await assize('report', 'eu-ai-act', '--json', '--out', 'a.json');
  expect(first.code).toBe(1);
  const report = JSON.parse(first.out);
  expect(report).toMatchObject({
    format: 'assize/report/v1',
    valid: true,
    log: { size: 28, checkpoint: null },
  });
  expect(JSON.parse(readFileSync(join(folder, 'a.json'), 'utf8'))).toEqual(report);
  for (const file of ['a.html', 'b.html'])
    expect((await assize('report', 'eu-ai-act', '--size', '28', '--out', file)).code).toBe(1);
  expect(readFileSync(join(folder, 'b.html'))).toEqual(readFileSync(join(folder, 'a.html')));
  const { out } = await assize('report', 'eu-ai-act');
  expect(out).toMatch(/\n {2}gap {3}Art\. 12\(1\) Record-keeping\n/);
  expect(out).toMatch(/\n28 entries, root [0-9a-f]{12}: \d+ clauses with a gap\n$/);
});

test('a checkpoint and a witness close their gaps', async () => {
  const gapsOf = async (...args: readonly string[]): Promise<string[]> => {
    const { out } = await assize('report', 'soc2-cc7', '--json', ...args);
    const all = JSON.parse(out).frameworks[0].clauses.flatMap(({ measures }: any) => measures);
    return all.filter(({ status }: any) => status === 'gap').map(({ id }: any) => id);
  };
  expect(await gapsOf()).toEqual(expect.arrayContaining(['records.checkpoint', 'records.witness']));
  expect((await assize('keys', 'new', 'log.example/demo')).code).toBe(0);
  expect((await assize('checkpoint')).code).toBe(0);
  const closed = await gapsOf();
  expect(closed).not.toContain('records.checkpoint');
  expect(closed).toContain('records.witness');
});

test.each([
  [['eu-ai-akt'], /no framework "eu-ai-akt"\. Did you mean eu-ai-act\?/],
  [['--since', '2026-05-01', '--until', '2026-04-01'], /Pass a begin before the end/],
  [['--since', 'May'], /It must be an instant/],
  [['--trajectory', 'nothing'], /no trajectory "nothing"/],
  [['--size', '0'], /whole number from 1/],
  [['--size', '9999'], /Pass a size from 1 to/],
  [['--out', 'report.pdf'], /names no form of a report/],
  [['--checkpoint', 'none.txt'], /no checkpoint at none\.txt/],
  [['--log-key', 'none.vkey', '--store', 'sqlite:./plain.db'], /--log-key needs a checkpoint/],
  [['--witness', 'a+b', '--store', 'sqlite:./plain.db'], /--witness needs a checkpoint/],
])('%j is misuse, and writes nothing', async (args, message) => {
  const { code, out, err } = await assize('report', ...args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(message);
  expect(existsSync(join(folder, 'report.pdf'))).toBe(false);
});

test('a period without entries says so first, and nothing is shown', async () => {
  const empty = 'No entry is in the period and trajectories of this report, so it shows nothing.';
  const period = ['--since', '2020-01-01', '--until', '2020-02-01'];
  const told = await assize('report', ...period);
  expect(told.out.split('\n')[0]).toBe(empty);
  expect(told.out).not.toMatch(/ {2}shown /);
  const { scope, frameworks } = JSON.parse((await assize('report', ...period, '--json')).out);
  expect(scope.entries).toBe(0);
  for (const { status, measures } of frameworks.flatMap(({ clauses }: any) => clauses))
    for (const each of [status, ...measures.map(({ status }: any) => status)])
      expect(['gap', 'none']).toContain(each);
  for (const file of ['empty.md', 'empty.html']) {
    await assize('report', ...period, '--out', file);
    expect(readFileSync(join(folder, file), 'utf8').slice(0, 2_500)).toContain(empty);
  }
});

test('all forms of a report have the same words for its results', async () => {
  const { frameworks } = JSON.parse((await assize('report', 'soc2-cc7', '--json')).out);
  const words = frameworks[0].clauses.map(({ status }: any) => status);
  expect(new Set(words)).toEqual(new Set(['gap', 'shown']));
  const resultsIn = (text: string, form: RegExp) =>
    [...text.matchAll(form)].map(([, word]) => word);
  const { out } = await assize('report', 'soc2-cc7', '--out', 'words.md');
  expect(resultsIn(out, /^ {2}(\w+) +CC/gm)).toEqual(words);
  expect(resultsIn(readFileSync(join(folder, 'words.md'), 'utf8'), /^### .*: (.+)$/gm)).toEqual(
    words,
  );
  await assize('report', 'soc2-cc7', '--out', 'words.html');
  const page = readFileSync(join(folder, 'words.html'), 'utf8');
  expect(resultsIn(page, /<h3>.*<span class="status \w+">(.+)<\/span>/g)).toEqual(words);
});

test.each([
  ['verify', '--database', '--checkpoint', 'none.txt'],
  ['verify', '--database', '--log-key', 'none.vkey'],
])('%s %s needs a checkpoint', async (...args) => {
  const { code, err } = await assize(...args, '--store', 'sqlite:./plain.db');
  expect([code, err]).toEqual([2, expect.stringMatching(/no checkpoint at|needs a checkpoint/)]);
});

test('a changed entry is a fault of the report, not of the command', async () => {
  copyFileSync(join(folder, 'assize-demo.db'), join(folder, 'changed.db'));
  const database = new DatabaseSync(join(folder, 'changed.db'));
  const { payload } = database.prepare('SELECT payload FROM entry WHERE position = 4').get() as {
    payload: string;
  };
  // The store refuses a database without its triggers.
  const { sql } = database
    .prepare("SELECT sql FROM sqlite_schema WHERE name = 'entry_unchanged'")
    .get() as any;
  database.exec('DROP TRIGGER entry_unchanged');
  database
    .prepare('UPDATE entry SET payload = ? WHERE position = 4')
    .run(payload.replace('"at":"2026', '"at":"2025'));
  database.exec(sql);
  database.close();
  const { code, out } = await assize('report', 'eu-ai-act', '--store', 'sqlite:./changed.db');
  expect(code).toBe(1);
  expect(out).toMatch(/fault: .*\(tampered\)/);
});

test('every proof of a measure names a command, and an operation of the API', () => {
  const commands = Object.keys(ASSIZE.commands);
  const operations = new Set(
    OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`),
  );
  const measures = FRAMEWORKS.flatMap(({ clauses }) => clauses.flatMap(({ measures }) => measures));
  expect(measures.length).toBeGreaterThan(100);
  for (const { id, proof, find } of measures) {
    if (id.startsWith('outside.')) continue;
    const [program, command = ''] = proof.command.split(' ');
    expect([program, commands.includes(command)], proof.command).toEqual(['assize', true]);
    expect(operations, id).toContain(proof.api);
    expect(find).toBeTypeOf('function');
  }
});
