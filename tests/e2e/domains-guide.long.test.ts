import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runCommand } from '../support/process/command.ts';
import { blockOf, writeFiles } from '../support/process/guide-files.ts';

const root = join(import.meta.dirname, '../..');
const PAGES: Readonly<Record<string, string>> = {
  'library.ts': 'domains.md',
  'lending.ts': 'domains.md',
  'busy.ts': 'domains.md',
  'meanwhile.ts': 'domains.md',
  'library.test.ts': 'domain-tests.md',
  'wrong.ts': 'domain-tests.md',
  'check.ts': 'domain-tests.md',
  'walk.ts': 'domain-tests.md',
};

// Inside the repository, so that `assize` is this package.
const folder = mkdtempSync(join(root, 'dist-guide-'));
afterAll(() => rmSync(folder, { recursive: true }));
for (const page of new Set([...Object.values(PAGES), 'approvals.md'])) writeFiles(page, folder);

const run = (...given: string[]): string =>
  execFileSync(process.execPath, given, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

test('domain-tests.md: the test passes', () => {
  const report = join(folder, 'report.json');
  run(
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--root',
    '.',
    '--reporter',
    'json',
    '--outputFile',
    report,
  );
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({
    numPassedTests: 1,
    numTotalTests: 1,
  });
});

test.each(Object.entries(PAGES))('%s passes the lint of the clone', (name, page) => {
  const file = join('examples/domains/library', name);
  const given = ['check', '--write', `--stdin-file-path=${file}`];
  const input = blockOf(page, `ts ${name}`);
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  expect(
    execFileSync(process.execPath, [biome, ...given], { cwd: root, input, encoding: 'utf8' }),
  ).toBe(input);
});

test('domains.md: the programs print the output of the page', () => {
  expect(run('lending.ts')).toBe(blockOf('domains.md', 'text lending.ts'));
  const printed = run('meanwhile.ts').replaceAll(/[0-9a-f]{64}/g, '…');
  expect(printed).toBe(blockOf('domains.md', 'text meanwhile.ts'));
});

test('domain-tests.md: check and walk print the output of the page', () => {
  // The page breaks long lines.
  const words = (text: string): string[] => text.split(/\s+/);
  expect(words(run('check.ts'))).toEqual(words(blockOf('domain-tests.md', 'text check.ts')));
  expect(run('walk.ts')).toBe(blockOf('domain-tests.md', 'text walk.ts'));
});

test('domains.md: each rule over a collection rejects with its figure', () => {
  writeFileSync(join(folder, 'use-busy.ts'), `${BESIDE}${USE_BUSY}`);
  expect(JSON.parse(run('use-busy.ts'))).toEqual({
    ok: true,
    said: [
      'committed',
      'LENT_ONCE: /loans/ada/emma and /loans/ben/emma have the same value, which must be unique',
      'WEEKS: 9 weeks, and ada has 8',
      'FEW_LONG: 2 long loans at a time',
      'committed',
      'ONE_STAYS: one book stays in the house',
    ],
  });
});

test('domains.md: a pending loan keeps its book, and others go on', () => {
  writeFileSync(join(folder, 'use-library.ts'), `${BESIDE}${USE_LIBRARY}`);
  expect(JSON.parse(run('use-library.ts'))).toEqual(['escalated', 'frozen', 'committed']);
});

test('approvals.md: the program prints its output, and the commands decide', async () => {
  expect(run('approve.ts')).toBe(blockOf('approvals.md', 'text approve.ts'));
  const [, pending = '', approve = '', reject = ''] = blockOf('approvals.md', 'sh decide').split(
    '\n',
  );
  const assize = async (line: string): Promise<string> => {
    const [runner, command, ...args] = [...line.matchAll(/"([^"]*)"|\S+/g)].map(
      ([word, quoted]) => quoted ?? word,
    );
    expect([runner, command]).toEqual(['npx', 'assize']);
    const { out, err } = await runCommand(folder, 'sqlite:./refunds.db', ...args);
    expect(err, line).toBe('');
    return out;
  };
  const [id] = /\b[0-9a-f]{12}\b/.exec(await assize(pending)) ?? [];
  const approved = await assize(approve.replace('ID', id!));
  const [, next] = /^approved as ([0-9a-f]{12}),.* 1 of 2$/m.exec(approved) ?? [];
  expect(await assize(reject.replace('NEXT_ID', next!))).toMatch(/^rejected /);
});

const BESIDE = `
import { Assize, generateKeys, issueWrit, openStore } from 'assize';

const root = generateKeys();
const writ = issueWrit({
  issuer: root.publicKey, subject: 'agent:desk', actions: ['**'], scopes: ['role:desk:*'],
  not_before: '2026-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z', max_depth: 0, nonce: 'desk',
}, root.privateKey);

async function lending(domain, loans) {
  const assize = new Assize({ store: await openStore('memory:'), domains: [domain], anchors: [root.publicKey] });
  const desk = await assize.create(domain, { writs: [writ] });
  const rulings = [];
  for (const [member, book, weeks] of loans) {
    const role = { name: 'desk', params: { member } };
    rulings.push(await desk.propose({ action: 'lend', role, args: { book, weeks }, writ }));
  }
  return rulings;
}
`;

const USE_LIBRARY = `
import { library } from './library.ts';

const rulings = await lending(library, [['ada', 'emma', 8], ['ben', 'emma', 1], ['ben', 'walden', 1]]);
console.log(JSON.stringify(rulings.map(({ ruling }) => ruling)));
`;

const USE_BUSY = `
import { checkDomain } from '@assize/testing';
import { busy } from './busy.ts';

const rulings = await lending(busy, [
  ['ada', 'emma', 4], ['ben', 'emma', 1], ['ada', 'ulysses', 5], ['ada', 'ulysses', 4], ['ben', 'ulysses', 2], ['ada', 'walden', 1],
]);
const said = rulings.map((one) => (one.ruling === 'rejected' ? one.invariantId + ': ' + one.detail : one.ruling));
const { ok } = checkDomain(busy, { roles: { desk: [{ member: 'ada' }, { member: 'ben' }] } });
console.log(JSON.stringify({ ok, said }));
`;
