/** docs/guide/openai-agents.md, run as it stands: from the rules to a call that is made once. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/guide/openai-agents.md'), 'utf8');
const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => ({ info, text }));

test('openai-agents.md holds a call, and makes it once after its approval', () => {
  const here = mkdtempSync(join(tmpdir(), 'assize-openai-agents-guide-'));
  onTestFinished(() => rmSync(here, { recursive: true }));
  mkdirSync(join(here, 'bin'));
  const command = join(here, 'bin/assize');
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'src/cli/main.ts')}" "$@"\n`);
  chmodSync(command, 0o755);
  writeFileSync(join(here, 'package.json'), '{"type":"module"}');
  mkdirSync(join(here, 'node_modules'));
  symlinkSync(root, join(here, 'node_modules/assize'));
  for (const name of ['@openai', 'zod'])
    symlinkSync(join(root, 'node_modules', name), join(here, 'node_modules', name));
  for (const { info, text } of blocks) {
    const [, file] = info.split(' ');
    if (file !== undefined) writeFileSync(join(here, file), text);
  }
  const lines = blocks.filter(({ info }) => info === 'console').flatMap(({ text }) => text.trimEnd().split('\n'));
  const commands = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  const shown = lines.filter((line) => !line.startsWith('$ '));
  expect(commands.length).toBeGreaterThan(3);
  const path = `${join(here, 'bin')}:${join(process.execPath, '..')}:${process.env['PATH']}`;
  const printed = execFileSync('sh', ['-eu', '-c', commands.join('\n')], {
    cwd: here,
    encoding: 'utf8',
    env: { ...process.env, PATH: path, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 60_000,
  });
  expect(printed.trimEnd().split('\n')).toEqual(shown);
});
