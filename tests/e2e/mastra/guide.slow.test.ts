/** docs/guide/mastra.md, run as it stands: from the rules to a held call that is made once. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linkMastra } from '../../support/mastra/link-mastra.ts';
import { hasMastra } from '../../support/mastra/packages.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/guide/mastra.md'), 'utf8');
const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => ({ info, text }));

describe.skipIf(!hasMastra)('Mastra (absent without npm ci --prefix peers)', () => {
  test('mastra.md holds a call, and makes it once after its approval', () => {
    const here = mkdtempSync(join(tmpdir(), 'assize-mastra-guide-'));
    onTestFinished(() => rmSync(here, { recursive: true }));
    linkMastra(here);
    mkdirSync(join(here, 'bin'));
    const command = join(here, 'bin/assize');
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'src/cli/main.ts')}" "$@"\n`);
    chmodSync(command, 0o755);
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
      timeout: 300_000,
    });
    expect(printed.trimEnd().split('\n')).toEqual(shown);
  });
});
