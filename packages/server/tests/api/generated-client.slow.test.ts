/**
 * A client whose types openapi-typescript generates from the document of a running server. The
 * program compiles against the types, and runs.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start, stopAll, type TestServer } from '../../../../tests/support/server/serving.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../../..');

/** An agent proposes, a person decides, and both read the outcome. */
const PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

const [url = '', agentToken = '', bossToken = ''] = process.argv.slice(2);
const clientOf = (token: string) => createClient<paths>({ baseUrl: url, headers: { authorization: \`Bearer \${token}\` } });
const agent = clientOf(agentToken);
const boss = clientOf(bossToken);
const trajectory = 'main';
const propose = async (key: string, desk: string, amount: number) => {
  const { data, error } = await agent.POST('/v1/trajectories/{trajectory}/proposals', {
    params: { path: { trajectory }, header: { 'Idempotency-Key': key } },
    body: { action: 'pay', role: { name: 'clerk', params: { desk } }, args: { amount } },
  });
  if (error !== undefined) throw new Error(error.code);
  if ('outcome' in data) throw new Error('no interrupt was asked for');
  return data;
};

const small = await propose('k1', 'a', 10);
const again = await propose('k1', 'a', 10);
const large = await propose('k2', 'b', 200);
if (large.ruling !== 'escalated') throw new Error(large.ruling);
const { data: listed } = await boss.GET('/v1/approvals', { params: { query: { mine: 'true', limit: '10' } } });
const [approval] = listed?.approvals ?? [];
const { data: decided } = await boss.POST('/v1/approvals/{approval}/approve', {
  params: { path: { approval: large.approval_id } },
  body: { digest: approval?.digest ?? '' },
});
const { data: state } = await boss.GET('/v1/trajectories/{trajectory}/state', {
  params: { path: { trajectory }, query: { pointer: '/desks' } },
});
const { error: refused, response } = await agent.GET('/v1/trajectories/{trajectory}/state', {
  params: { path: { trajectory } },
});
const { data: me } = await agent.GET('/v1/me');
console.log(JSON.stringify({
  small: small.ruling, same: JSON.stringify(small) === JSON.stringify(again), channel: large.channel,
  decided: decided?.ruling, state: state?.state, refused: [response.status, refused?.code, refused?.detail], me: me?.name,
}));
`;
/** Each line misuses the API, and must not compile. */
const MISUSES = [
  "agent.GET('/v1/nothing');",
  "agent.POST('/v1/trajectories/{trajectory}/proposals', { params: { path: { trajectory } }, body: { action: 'pay', role: 'clerk', args: {} } });",
  "agent.POST('/v1/trajectories/{trajectory}/proposals', { params: { path: { trajectory }, header: { 'Idempotency-Key': 'k' } }, body: { action: 1, role: 'clerk', args: {} } });",
  "agent.POST('/v1/trajectories/{trajectory}/proposals', { params: { path: { trajectory }, header: { 'Idempotency-Key': 'k' } }, body: { role: 'clerk', args: {} } });",
  "agent.GET('/v1/me').then(({ data }) => data?.nothing);",
];

let server: TestServer;
let folder: string;

beforeAll(async () => {
  server = await start({ stopsAlone: true });
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'assize-client-')));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const { text } = await server.ask('GET', '/openapi.json');
  writeFileSync(join(folder, 'openapi.json'), text);
  const resolved = createRequire(join(root, 'tests/openapi-client/package.json')).resolve(
    'openapi-typescript',
  );
  const cli = join(dirname(resolved), '../bin/cli.js');
  await run(process.execPath, [cli, 'openapi.json', '-o', 'api.d.ts'], { cwd: folder });
});

afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
});

function compiled(
  name: string,
  text: string,
): Promise<{ readonly code: number; readonly out: string }> {
  writeFileSync(join(folder, name), text);
  const tsc = join(root, 'node_modules/.bin/tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--target',
    'esnext',
    '--module',
    'nodenext',
    '--types',
    'node',
  ];
  return run(tsc, [...options, '--allowImportingTsExtensions', name], { cwd: folder }).then(
    () => ({ code: 0, out: '' }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, out: stdout }),
  );
}

test('the program compiles against the generated types, and runs', async () => {
  expect(await compiled('program.ts', PROGRAM)).toEqual({ code: 0, out: '' });
  const args = ['program.ts', server.url, server.tokens['agent:scout'], server.tokens['boss:ada']];
  const { stdout } = await run(process.execPath, args, { cwd: folder });
  expect(JSON.parse(stdout)).toEqual({
    small: 'committed',
    same: true,
    channel: 'boss',
    decided: 'committed',
    state: { a: { sum: 10 }, b: { sum: 200, by: 'boss:ada' } },
    refused: [403, 'forbidden', expect.stringContaining('agent:scout')],
    me: 'agent:scout',
  });
});

test('a misuse of the API does not compile', async () => {
  const [head = ''] = PROGRAM.split('const propose');
  const { code, out } = await compiled(
    'misuse.ts',
    `${head}${MISUSES.join('\n')}\nexport { boss };\n`,
  );
  expect(code).not.toBe(0);
  const first = head.split('\n').length;
  const lines = new Set([...out.matchAll(/misuse\.ts\((\d+),/g)].map(([, line]) => Number(line)));
  expect(MISUSES.filter((_, n) => !lines.has(first + n))).toEqual([]);
});
