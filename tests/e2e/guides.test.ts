/** The examples of docs/guide, run as they stand. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const python = spawnSync('python3', ['--version']).status === 0;
let here: string;

beforeEach(() => {
  here = mkdtempSync(join(tmpdir(), 'assize-guide-'));
  const command = join(here, 'bin/assize');
  mkdirSync(join(here, 'bin'));
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'src/cli/main.ts')}" "$@"\n`);
  chmodSync(command, 0o755);
  symlinkSync(join(root, 'verifiers'), join(here, 'verifiers'));
});
afterEach(() => rmSync(here, { recursive: true }));

function blocks(page: string, name = 'sh'): string[] {
  const text = readFileSync(join(root, 'docs/guide', page), 'utf8');
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
    .filter(([, is]) => is === name)
    .map(([, , code]) => code as string);
}

function shell(script: string): string {
  const env = { ...process.env, PATH: `${join(here, 'bin')}:${process.env['PATH']}`, NO_COLOR: '1' };
  return execFileSync('sh', ['-eu', '-c', script], {
    cwd: here,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

test.skipIf(!python)('audit.md, which also needs python3', async () => {
  const said = shell(blocks('audit.md').join('\n'));
  for (const part of [
    '1 of 1 trajectories are valid',
    '21 of them in the log',
    'grew from 21 to 22 entries',
    'It is entry 0 of the 22',
    '22 of them new',
  ]) {
    expect(said).toContain(part);
  }
  const [making, serving] = blocks('audit.md', 'sh witness')[0]!.trim().split('\n') as [string, string];
  const store = 'export ASSIZE_STORE=sqlite:./assize-demo.db\n';
  shell(store + making);
  const free = serving.replace(':2112', ':0');
  const env = { ...process.env, PATH: `${join(here, 'bin')}:${process.env['PATH']}`, NO_COLOR: '1' };
  const witness = spawn('sh', ['-c', `exec ${free}`], { cwd: here, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let heard = '';
    for await (const chunk of witness.stdout as AsyncIterable<Buffer>) {
      heard += chunk;
      const url = /at (http:\S+)/.exec(heard)?.[1];
      if (url === undefined) continue;
      const [asking] = blocks('audit.md', 'sh cosigned') as [string];
      expect(shell(store + asking.replace('http://127.0.0.1:2112/', url))).toContain('cosigned by witness.example');
      break;
    }
  } finally {
    witness.kill('SIGTERM');
    await once(witness, 'exit');
  }
});
