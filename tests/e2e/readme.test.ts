import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

function block(language: string): string {
  return readme.split(`\`\`\`${language}\n`)[1]?.split('\n```')[0] ?? '';
}

test('the domain of the README runs and prints what it says', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-readme-'));
  try {
    writeFileSync(join(folder, 'example.ts'), block('ts'));
    const printed = execFileSync(process.execPath, ['example.ts'], { cwd: folder, encoding: 'utf8' });
    expect(printed.split('\n').map((line) => line.trim())).toEqual([
      '45000 committed',
      '60000 rejected BUDGET_CAP: spent 105000 of 100000',
      'true 3',
      '',
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the domain that escalates does, and a manager’s approval makes it pass', () => {
  const folder = mkdtempSync(join(root, 'dist-readme-'));
  try {
    writeFileSync(join(folder, 'expenses.ts'), block('ts escalate'));
    writeFileSync(join(folder, 'use.ts'), USE);
    const printed = execFileSync(process.execPath, ['use.ts'], { cwd: folder, encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({
      rulings: ['committed', 'escalated', 'committed'],
      claims: { a: { amount: 10 }, b: { amount: 5_000, approvedBy: 'manager:grace' } },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const USE = `
import { Assize, generateKeys, issueWrit, openStore } from 'assize';
import { expenses } from './expenses.ts';

const root = generateKeys();
const assize = new Assize({ store: await openStore('memory:'), domains: [expenses], anchors: [root.publicKey] });
const writ = issueWrit({
  issuer: root.publicKey, subject: 'agent:ada', actions: ['claim'], scopes: ['role:employee'],
  not_before: '2026-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z', max_depth: 0, nonce: '1',
}, root.privateKey);
const trajectory = await assize.create(expenses, { writs: [writ] });
const claim = (id, amount) => trajectory.propose({ action: 'claim', role: 'employee', args: { id, amount }, writ });
const small = await claim('a', 10);
const large = await claim('b', 5_000);
const approved = await trajectory.approve(large.pending, { principal: 'manager:grace', method: 'test' });
console.log(JSON.stringify({ rulings: [small, large, approved].map(({ ruling }) => ruling), claims: trajectory.state().claims }));
`;

test('the README names exactly two commands, and both are scripts', () => {
  const commands = block('sh')
    .split('\n')
    .map((line) => line.split('#')[0]?.trim());
  expect(commands).toEqual(['npm ci && npm start', 'npm ci && npm test']);
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
});
