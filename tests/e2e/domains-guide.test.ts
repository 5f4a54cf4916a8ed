import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const guide = readFileSync(join(root, 'docs/guide/domains.md'), 'utf8');

function block(says: string): string {
  const found = [...guide.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].filter(([, is]) => is === says);
  return found.map(([, , code]) => code).join('\n');
}

// Inside the repository, so that `assize` is this package.
const folder = mkdtempSync(join(root, 'dist-guide-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ['library.ts', 'busy.ts', 'library.test.ts', 'check.ts'])
  writeFileSync(join(folder, name), block(`ts ${name}`));

const run = (...given: string[]): string =>
  execFileSync(process.execPath, given, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

test('the test of the guide passes', () => {
  const report = join(folder, 'report.json');
  run(join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', '.', '--reporter', 'json', '--outputFile', report);
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ numPassedTests: 1, numTotalTests: 1 });
});

test.each(['library.ts', 'busy.ts', 'library.test.ts', 'wrong.ts', 'check.ts'])(
  '%s passes the lint of the clone',
  (name) => {
    const file = join('domains/library', name);
    const given = ['check', '--write', `--stdin-file-path=${file}`];
    const input = block(`ts ${name}`);
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    expect(execFileSync(process.execPath, [biome, ...given], { cwd: root, input, encoding: 'utf8' })).toBe(input);
  },
);

test('the check of the guide finds what was forgotten, in the words of the page, and nothing else', () => {
  expect(run('check.ts')).toBe(block('text check.ts'));
});

test('the busy library refuses what its rules are about, each with its figure', () => {
  writeFileSync(join(folder, 'use-busy.ts'), `${BESIDE}${USE_BUSY}`);
  expect(JSON.parse(run('use-busy.ts'))).toEqual({
    ok: true,
    said: [
      'committed',
      'LENT_ONCE: /loans/ada/emma and /loans/ben/emma have in common what may be there once',
      'WEEKS: 9 weeks, and ada has 8',
      'FEW_LONG: 2 long loans at a time',
      'committed',
      'ONE_STAYS: one book stays in the house',
    ],
  });
});

test('while a librarian is asked, all lending waits', () => {
  writeFileSync(join(folder, 'use-library.ts'), `${BESIDE}${USE_LIBRARY}`);
  expect(JSON.parse(run('use-library.ts'))).toEqual(['escalated', 'frozen', 'frozen']);
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

const rulings = await lending(library, [['ada', 'emma', 8], ['ada', 'ulysses', 1], ['ben', 'walden', 1]]);
console.log(JSON.stringify(rulings.map(({ ruling }) => ruling)));
`;

const USE_BUSY = `
import { checkDomain } from 'assize/testing';
import { busy } from './busy.ts';

const rulings = await lending(busy, [
  ['ada', 'emma', 4], ['ben', 'emma', 1], ['ada', 'ulysses', 5], ['ada', 'ulysses', 4], ['ben', 'ulysses', 2], ['ada', 'walden', 1],
]);
const said = rulings.map((one) => (one.ruling === 'rejected' ? one.invariantId + ': ' + one.detail : one.ruling));
const { ok } = checkDomain(busy, { roles: { desk: [{ member: 'ada' }, { member: 'ben' }] } });
console.log(JSON.stringify({ ok, said }));
`;
