import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDocs } from './docs.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-docs-'));
  mkdirSync(join(folder, 'docs/assets'), { recursive: true });
  mkdirSync(join(folder, 'docs/guide'));
  for (const [name, text] of Object.entries({
    'secret.html': 'secret',
    'docs/index.html': 'first page',
    'docs/guide/halt.html': 'halt',
    'docs/assets/app.1a.js': 'code',
    'docs/assets/app.1a.js.br': 'small',
  }))
    writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function get(path: string, headers: Record<string, string> = {}) {
  const app = new Hono();
  addDocs(app, join(folder, 'docs'));
  const answer = await app.request(path, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

test('the pages are served without a session, under the policy of the console', async () => {
  const page = await get('/docs/guide/halt.html');
  expect(page).toMatchObject({ status: 200, text: 'halt' });
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self';/,
  );
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect((await get('/docs/')).text).toBe('first page');
  expect((await get('/docs')).headers.get('location')).toBe('/docs/');
});

test('a small copy is sent to a browser that reads it', async () => {
  expect((await get('/docs/assets/app.1a.js')).text).toBe('code');
  const small = await get('/docs/assets/app.1a.js', { 'accept-encoding': 'gzip, br' });
  expect(small.text).toBe('small');
  expect(small.headers.get('content-encoding')).toBe('br');
});

test.each([
  '/docs/../secret.html',
  '/docs/%2e%2e/secret.html',
  '/docs/..%2fsecret.html',
  '/docs/assets/..%5c..%5c..%5csecret.html',
  '/docs/none.html',
])('%s leads to no file outside of the folder', async (path) => {
  const answer = await get(path);
  expect(answer.status).toBe(404);
  expect(answer.text).not.toContain('secret');
});

test('a server without the pages says how to install them', async () => {
  const app = new Hono();
  addDocs(app, undefined);
  for (const path of ['/docs', '/docs/guide/halt.html']) {
    const answer = await app.request(path);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('npm install @assize/docs');
  }
});
