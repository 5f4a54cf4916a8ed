import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

// Modules that keep the process alive, or print, while a command loads them.

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'assize-noisy-'));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function moduleWith(line: string): string {
  const path = join(folder, 'domain.ts');
  writeFileSync(
    path,
    `import { defineDomain } from 'assize';
import { z } from 'zod';
${line}
export const odd = defineDomain({ name: 'odd', version: '1', state: z.object({}), initial: {}, processes: {}, roles: {}, actions: {}, invariants: [] });
`,
  );
  return path;
}

async function domains(line: string): Promise<{ code: number | null; out: string; err: string }> {
  const args = [join(root, 'bin/assize.js'), 'domains', '--domain', moduleWith(line), 'odd', '--json'];
  const child = spawn(process.execPath, args, { cwd: folder });
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (err += text));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out, err };
}

test.each([
  ['a timer', 'setInterval(() => {}, 1_000);'],
  ['a server', "import { createServer } from 'node:http';\ncreateServer().listen(0);"],
  ['a watcher', "import { watch } from 'node:fs';\nwatch(import.meta.dirname);"],
  [
    'a worker',
    "import { Worker } from 'node:worker_threads';\nnew Worker('setInterval(() => {}, 9)', { eval: true });",
  ],
])('a command ends although its module keeps %s', { timeout: 30_000 }, async (_, line) => {
  const { code, out } = await domains(line);
  expect([code, JSON.parse(out)]).toEqual([0, expect.anything()]);
});

test.each([
  ['console.log', "console.log('injecting env (0)');"],
  ['the stream', "process.stdout.write('injecting env (0)\\n');"],
  ['a later turn', "await null;\nconsole.info('injecting env (0)');"],
  ['a timer', "await new Promise((done) => setTimeout(done, 5));\nconsole.table([['injecting env (0)']]);"],
])('what a module prints goes to standard error: %s', { timeout: 30_000 }, async (_, line) => {
  const { code, out, err } = await domains(line);
  expect([code, JSON.parse(out), err]).toEqual([0, expect.anything(), expect.stringContaining('injecting env (0)')]);
});
