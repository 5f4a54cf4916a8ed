import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import { PAGES } from '../../console/src/app/pages.ts';
import { addConsole, addUnknownPage } from '../../packages/server/src/http/console.ts';
import { ConsoleFiles } from '../../packages/server/src/http/console-files.ts';

test('the server has the address of each page of the console', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-console-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(
    join(folder, 'index.html'),
    '<meta content="{{nonce}}"><meta content="{{sign-in}}">',
  );
  const app = new Hono();
  const files = await ConsoleFiles.read(folder);
  addConsole(app, files, 'oidc');
  addUnknownPage(app, files, 'oidc');
  const statusOf = async (path: string) =>
    (await app.request(path, { headers: { accept: 'text/html' } })).status;
  for (const { path } of PAGES) expect([path, await statusOf(path)]).toEqual([path, 200]);
  expect(await statusOf('/no-page')).toBe(404);
});
