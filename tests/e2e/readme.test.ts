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
