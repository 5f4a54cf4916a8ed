import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addConsole, addUnknownPage } from './console.ts';
import { ConsoleFiles } from './console-files.ts';

let folder: string;
let app: Hono;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(
    join(folder, 'index.html'),
    '<meta content="{{nonce}}"><meta content="{{sign-in}}"></head>',
  );
  writeFileSync(join(folder, 'secret.js'), 'secret');
  for (const [name, text] of Object.entries({
    'a-1.js': 'plain',
    'a-1.js.br': 'small',
    'b-1.css': 'css',
    'inbox-page-1.js': 'inbox',
    'c.map': 'map',
  }))
    writeFileSync(join(folder, 'assets', name), text);
  app = new Hono();
  const files = await ConsoleFiles.read(folder);
  addConsole(app, files, 'oidc');
  app.get('/sign-in', (context) => context.text('sign in'));
  addUnknownPage(app, files, 'oidc');
});

afterAll(() => rmSync(folder, { recursive: true }));

async function get(path: string, encoding?: string) {
  const headers: Record<string, string> =
    encoding === undefined ? {} : { 'accept-encoding': encoding };
  const answer = await app.request(path, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

test('each page is the same document, with its code and a nonce of its own', async () => {
  const [one, two] = [await get('/'), await get('/inbox/abc')];
  const nonces = [one, two].map(({ text, headers }) => {
    const [, nonce = '', code] =
      /^<meta content="([^"]{24})"><meta content="oidc">(<link .*>)?<\/head>$/.exec(text) ?? [];
    const link = '<link rel="modulepreload" crossorigin href="/assets/inbox-page-1.js">';
    expect(code).toBe(text === one.text ? undefined : link);
    expect(headers.get('content-security-policy')).toContain(`style-src 'self' 'nonce-${nonce}';`);
    return nonce;
  });
  expect(new Set(nonces).size).toBe(2);
  for (const { headers } of [one, two]) {
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(policy.replace("style-src-attr 'unsafe-inline'", '')).not.toContain('unsafe');
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

test('a file is compressed for browsers that take it, and kept for ever', async () => {
  expect(await get('/assets/a-1.js', 'gzip, br')).toMatchObject({ status: 200, text: 'small' });
  const plain = await get('/assets/a-1.js', 'gzip');
  expect(plain).toMatchObject({ status: 200, text: 'plain' });
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(plain.headers.get('vary')).toBe('accept-encoding');
  expect((await get('/assets/b-1.css', 'br')).text).toBe('css');
});

test.each([
  '/assets/c.map',
  '/assets/none.js',
  '/assets/..%2fsecret.js',
  '/assets/../secret.js',
  '/v1/none',
  '/inboxes',
])('no file and no page at %s', async (path) => {
  expect((await get(path)).status).toBe(404);
});

test('a browser sees a page for an unknown address, and a program does not', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  const page = await app.request('/nowhere', { headers: { accept } });
  expect(page.status).toBe(404);
  expect(await page.text()).toContain('<meta content="');
  expect(await (await app.request('/sign-in', { headers: { accept } })).text()).toBe('sign in');
  for (const [path, wanted] of [
    ['/nowhere', 'application/json'],
    ['/v1/nowhere', accept],
    ['/assets/nothing.js', '*/*'],
  ] as const) {
    const answer = await app.request(path, { headers: { accept: wanted } });
    expect(answer.status).toBe(404);
    expect(await answer.text()).not.toContain('<meta');
  }
});
