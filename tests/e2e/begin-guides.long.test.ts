/** The pages of docs/guide for a first hour, run as they stand. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { blocksOf } from '../support/process/guide-files.ts';
import { runGuide } from '../support/run-guide.ts';

const root = join(import.meta.dirname, '../..');

test.each(['nine-words.md'])('%s prints what it shows', (page) => {
  const { commands, printed, shown } = runGuide(page, { packages: ['zod'] });
  expect(commands.length).toBeGreaterThan(0);
  expect(printed).toEqual(shown);
});

test('the commands of runbooks.md do what the page says', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-runbooks-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'bin'));
  const command = join(folder, 'bin/assize');
  const main = join(root, 'packages/cli/src/main.ts');
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(command, 0o755);
  const script = blocksOf('runbooks.md')
    .filter(({ says }) => says.startsWith('sh '))
    .map(({ code }) => code)
    .join('');
  const said = execFileSync('sh', ['-eu', '-c', script], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}/bin:${process.env['PATH']}`, NO_COLOR: '1' },
  });
  for (const part of ['No faults found', 'halted calls', 'resumed calls', 'revoked', 'backup.db'])
    expect(said).toContain(part);
});

test('alerts and the board name metrics that the server has', () => {
  const files = globSync('packages/*/src/**/*.ts', { cwd: root });
  const source = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  const page = readFileSync(join(root, 'docs/guide/runbooks.md'), 'utf8');
  const alerts = readFileSync(join(root, 'examples/operate/alerts.yaml'), 'utf8');
  const board = readFileSync(join(root, 'examples/operate/grafana.json'), 'utf8');
  const named = [...`${alerts}${board}`.matchAll(/assize_[a-z_]+/g)].map(([name]) => name);
  expect(new Set(named).size).toBeGreaterThan(8);
  for (const name of new Set(named))
    expect([name, source.includes(name.replace(/^assize_notices_.*/, 'assize_notices_'))]).toEqual([
      name,
      true,
    ]);
  for (const [, title] of alerts.matchAll(/see "([^"]+)" in the runbooks/gi))
    expect(page).toContain(`## ${title}`);
  expect(JSON.parse(board).panels).toHaveLength(9);
});
