/** docs/guide/tools.md, run as it stands; it is compiled with the other guides, in tests/types/wrong.test.ts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumPath } from '#tools/browser';
import { blockOf, blocksOf } from '../support/guide-files.ts';

const PAGE = 'tools.md';
const root = join(import.meta.dirname, '../..');
const main = join(root, 'src/cli/main.ts');
const files = [
  'outside.ts',
  'tools.ts',
  'shop.ts',
  'work.ts',
  'costs.ts',
  'failing.ts',
  'parts.ts',
  'hang.ts',
  'asked.ts',
  'pivot.ts',
  'names.ts',
  'declared.ts',
  'http.ts',
  'files.ts',
  'mail.ts',
  'sql.ts',
  'browser.ts',
  'window.ts',
  'branches.ts',
];
let folder: string;

// Inside the repository, so that `assize` is this package.
beforeAll(() => {
  folder = mkdtempSync(join(root, 'dist-guide-'));
  for (const name of files) writeFileSync(join(folder, name), blockOf(PAGE, `ts ${name}`));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(['costs', 'names', 'declared', 'http', 'files', 'mail', 'sql', 'window', 'branches', 'asked', 'pivot'])(
  '%s prints what the page says',
  (name) => {
    const printed = execFileSync(process.execPath, [`${name}.ts`], { cwd: folder, encoding: 'utf8' });
    expect(printed).toBe(blockOf(PAGE, `text ${name}`));
  },
);

test.each(['parts', 'failing', 'hang'])(
  '%s prints what the page says, where nobody has ordered anything yet',
  (program) => {
    const own = join(folder, program);
    mkdirSync(own);
    for (const name of ['outside.ts', 'tools.ts', 'shop.ts', `${program}.ts`])
      copyFileSync(join(folder, name), join(own, name));
    const printed = execFileSync(process.execPath, [`${program}.ts`], { cwd: own, encoding: 'utf8' });
    expect(printed).toBe(blockOf(PAGE, `text ${program}`));
  },
);

test.skipIf(chromiumPath() === undefined)('browser prints what the page says (where there is a Chromium)', () => {
  const printed = execFileSync(process.execPath, ['browser.ts'], { cwd: folder, encoding: 'utf8' });
  expect(printed).toBe(blockOf(PAGE, 'text browser'));
});

test('and print what the page says, and so do the commands', () => {
  const printed = execFileSync(process.execPath, ['work.ts'], { cwd: folder, encoding: 'utf8' });
  expect(printed).toBe(blockOf(PAGE, 'text work'));
  const steps = blocksOf(PAGE).filter(({ says }) => says === 'console');
  expect(steps).toHaveLength(3);
  for (const { code } of steps) {
    const [typed = '', ...below] = code.replace(/^\$ assize /, '').split('\n');
    const script = `exec "$NODE" "$MAIN" ${typed}`;
    const env = { ...process.env, NODE: process.execPath, MAIN: main, NO_COLOR: '1' };
    const { stdout, stderr } = spawnSync('sh', ['-c', script], { cwd: folder, env, encoding: 'utf8' });
    expect(stdout, stderr).toBe(below.join('\n'));
  }
});
