/** The guides of the server, followed as they stand. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { blockOf } from '../../../tests/support/process/guide-files.ts';
import { ServedGuide } from '../../../tests/support/process/served-guide.ts';
import { signInAt } from '../../../tests/support/server/oidc-provider.ts';

const root = join(import.meta.dirname, '../../..');
const python = spawnSync('python3', ['--version']).status === 0;
const go = spawnSync('go', ['version']).status === 0;
let guide: ServedGuide;

beforeEach(async () => {
  guide = await ServedGuide.begin();
});
afterEach(async () => {
  await guide.end();
});

/** Each command printed the text that its page shows. */
function expectShown(count: number): void {
  for (const { command, shown, printed } of guide.steps) expect(printed, command).toBe(shown);
  expect(guide.steps).toHaveLength(count);
}

test('server.md, on SQLite', async () => {
  await guide.follow('server.md', ['sh postgres', 'sh container']);
  expectShown(8);
  expect(await guide.end()).toBe(0);
});

test('http-api.md', async () => {
  await guide.beginWith('server.md');
  await guide.follow('http-api.md');
  expectShown(17);
});

test.skipIf(!python)('python.md, from an empty folder, runs with python3', async () => {
  await guide.end();
  guide = await ServedGuide.begin({
    PYTHONPATH: join(root, 'clients/python'),
    PYTHONDONTWRITEBYTECODE: '1',
  });
  await guide.follow('python.md', ['sh install']);
  expectShown(7);
  expect(guide.sh('assize log calls')).toMatch(/committed .* approved by manager:grace/);
});

test.skipIf(!go)('go.md, from an empty folder, which also needs go', async () => {
  await guide.end();
  const cache = mkdtempSync(join(tmpdir(), 'assize-go-'));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  guide = await ServedGuide.begin({ GOCACHE: cache, GOFLAGS: '-mod=mod', GOPROXY: 'off' });
  guide.sh(blockOf('go.md', 'sh init'));
  await guide.follow('go.md', ['sh init']);
  expectShown(6);
  // The program follows the log over a server that starts again.
  const following = spawn(join(guide.folder, 'bills'), ['follow', '5'], { cwd: guide.folder });
  onTestFinished(() => void following.kill());
  let said = '';
  following.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const places = () => said.split('\n').map((line) => line.split(' ')[0]);
  await expect.poll(places).toEqual(['6', '']);
  await guide.beginWith('go.md');
  guide.sh('./bills pay call-3 bob 1');
  await expect.poll(places).toEqual(['6', '7', '8', '']);
});

test.skipIf(!python)('rules-start.md, from an empty folder, which also needs python3', async () => {
  const page = 'rules-start.md';
  const { next } = JSON.parse(guide.sh(`${blockOf(page, 'sh init').trim()} --json`)) as {
    next: string[];
  };
  const written = () => readFileSync(join(guide.folder, 'assize.yaml'), 'utf8');
  const rules = written();
  await guide.follow(page, ['sh init']);
  expect(written()).toBe(rules);
  expectShown(8);
  // The calls of the printed steps are those of the page, so each has its answer already.
  const asked = next.filter((step) => step.startsWith('curl '));
  const decisions = asked.map((step) => JSON.parse(guide.sh(step)).decision);
  expect(decisions).toEqual(['begun', 'begun', 'denied']);
  expect(next.at(-1)).toMatch(/^npx assize token sign-in human:you/);
  expect(guide.sh('assize log calls')).toMatch(/committed .* approved by human:you/);
});

test('rules-file.md, from an empty folder', async () => {
  const page = 'rules-file.md';
  guide.sh(blockOf(page, 'sh init'));
  await guide.follow(page, ['sh init']);
  expectShown(11);
  expect(guide.sh('assize verify; assize log calls')).toMatch(
    /valid[\s\S]*committed .* approved by manager:grace/,
  );
});

test('mcp.md, from an empty folder', async () => {
  const page = 'mcp.md';
  await guide.follow(page, ['sh init']);
  expectShown(14);
  expect(guide.sh('assize log calls')).toMatch(/committed .* approved by manager:grace/);
});

test('ask.md, with a chat that is a program', async () => {
  await guide.beginWith('server.md');
  await guide.follow('ask.md', ['sh install']);
  expectShown(12);
  expect(guide.sh('assize log office')).toMatch(/committed .* approved by manager:grace/);
});

test('sign-in.md, in a browser that signs in', async () => {
  await guide.follow('sign-in.md');
  expectShown(5);
  const begun = await fetch(`${guide.url}/sign-in/oidc`, { redirect: 'manual' });
  const back = await signInAt(guide.issuer, begun.headers.get('location') as string, 'grace');
  const cookie = (answer: Response) => answer.headers.getSetCookie()[0]?.split(';')[0] as string;
  const ended = await fetch(back, { redirect: 'manual', headers: { cookie: cookie(begun) } });
  const me = await fetch(`${guide.url}/v1/me`, { headers: { cookie: cookie(ended) } });
  expect(await me.json()).toEqual({
    name: 'manager:grace',
    kinds: ['counselor', 'auditor'],
    method: 'oidc',
  });
});
