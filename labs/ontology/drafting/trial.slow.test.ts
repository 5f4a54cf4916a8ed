/**
 * Drafted code in its process, without the check of its source before: the limits hold for code
 * that the check would never let pass.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIBRARY } from '../../../tests/support/process/guide-files.ts';
import { parse } from '../parse.ts';
import { LIBRARY_ANSWER } from '../testing/library-answer.ts';
import { assemble, fragmentsOf } from './assemble.ts';
import { errorsIn } from './finding.ts';
import { derive } from './holes.ts';
import { runTrial } from './trial.ts';

const ontology = parse(LIBRARY);
const { text: sound } = assemble(
  derive(ontology),
  LIBRARY_ANSWER as never,
  fragmentsOf(LIBRARY_ANSWER as never),
);
const folder = mkdtempSync(join(tmpdir(), 'assize-trial-'));
const secret = join(folder, 'secret.txt');
const written = join(folder, 'written.txt');
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? '');
  response.end();
});
let url: string;

beforeAll(async () => {
  writeFileSync(secret, 'KEY=the secret');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const trial = (text: string, timeMs = 60_000) =>
  runTrial({ text }, ontology, LIBRARY_ANSWER as never, { timeMs, memoryMb: 1_024 });

test('a sound module has no error', async () => {
  expect(errorsIn(await trial(sound))).toBe(0);
});

/** Statements after the module. Each reports by an error how far it came. */
const HOSTILE: readonly (readonly [string, string])[] = [
  [
    'imports a module of Node',
    `import { writeFileSync } from 'node:fs'; writeFileSync(WRITTEN, '');`,
  ],
  ['imports a module later', `const fs = await import('node:fs'); fs.writeFileSync(WRITTEN, '');`],
  ['gets a built-in module', `process.getBuiltinModule('node:fs').writeFileSync(WRITTEN, '');`],
  ['reads a file', `throw new Error(String(process.binding('fs').readFileUtf8(SECRET, 0)));`],
  [
    'reads a file as its environment',
    `process.loadEnvFile(SECRET); throw new Error(process.env['KEY']);`,
  ],
  ['writes a report', `process.report.writeReport(WRITTEN); throw new Error('written');`],
  ['becomes another program', `process.execve('/bin/sh', ['sh', '-c', 'touch ' + WRITTEN], {});`],
  ['asks a server', `await fetch(URL_HERE + '/fetch');`],
  ['makes code of text', `(() => 1).constructor('return process')().stdout.write('x');`],
  ['kills its parent', `process.kill(process.ppid, 'SIGTERM');`],
  ['ends its process', `process.exit(0);`],
  [
    'ends its process with a result of its own',
    `process.stdout.write('{"findings":[]}'); process.exit(0);`,
  ],
  ['throws nothing readable', `throw { toString() { throw 1; } };`],
];

test.each(HOSTILE)('a module that %s gets nowhere, and has an error', async (_, statement) => {
  const names = { WRITTEN: written, SECRET: secret, URL_HERE: url };
  const constants = Object.entries(names).map(
    ([name, value]) => `const ${name} = ${JSON.stringify(value)};\n`,
  );
  const findings = await trial(`${constants.join('')}${sound}\n${statement}\n`);
  expect(errorsIn(findings)).toBeGreaterThan(0);
  expect(JSON.stringify(findings)).not.toContain('the secret');
  expect([existsSync(written), asked]).toEqual([false, []]);
});

test('the environment is empty, and what a draft prints goes nowhere', async () => {
  const [found] = await trial(
    `${sound}\nthrow new Error(JSON.stringify([process, typeof console]));`,
  );
  expect(found).toMatchObject({ check: 'definition', says: '[{"env":{}},"undefined"]' });
});

test('findings of any length arrive whole', async () => {
  const answer = structuredClone(LIBRARY_ANSWER) as any;
  for (const rule of Object.values<any>(answer.invariants))
    rule.blocks = Array(6).fill({ loans: '\u20ac'.repeat(4_000) });
  const limits = { timeMs: 120_000, memoryMb: 1_024 };
  const found = await runTrial({ text: sound }, ontology, answer, limits);
  expect(found.filter(({ check }) => check === 'examples')).toHaveLength(36);
  expect(JSON.stringify(found).length).toBeGreaterThan(40_000);
});

test.each([
  ['that never ends', 'for (;;);', 'its checks took longer than 4 seconds'],
  [
    'that takes all memory',
    `const all: unknown[] = []; for (;;) all.push(new Array(1e6).fill({}));`,
    'it ended',
  ],
])('a module %s is stopped', async (_, statement, says) => {
  const began = performance.now();
  const findings = await trial(
    `${sound}\n${statement}\n`,
    says.includes('longer') ? 4_000 : 60_000,
  );
  expect(findings).toEqual([
    { check: 'run', severity: 'error', where: 'module', says: expect.stringContaining(says) },
  ]);
  expect(performance.now() - began).toBeLessThan(50_000);
});
