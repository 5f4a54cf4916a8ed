/** The documentation as a site: it builds, a browser shows it, and its search leads to the page. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { addDocs } from '../packages/server/src/http/docs.ts';
import { freePort } from './support/free-port.ts';
import { withChromium } from './support/tools/browser/with-chromium.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'docs/.vitepress/dist');
const questions: readonly { question: string; page: string; thread: string }[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'search-questions.json'), 'utf8'),
);

// Dead links to pages fail the build.
beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'scripts/build-docs.ts')], { stdio: 'inherit' });
}, 180_000);

test('each guide is in the sidebar of each page', () => {
  const first = readFileSync(join(dist, 'index.html'), 'utf8');
  const pages = globSync('guide/*.html', { cwd: dist });
  expect(pages.length).toBeGreaterThan(40);
  for (const page of pages) expect(first).toContain(`href="/docs/${page}"`);
});

test('the links to parts of a page lead to a part', () => {
  const dead = globSync('**/*.html', { cwd: dist }).flatMap((page) => {
    const html = readFileSync(join(dist, page), 'utf8');
    return [...html.matchAll(/href="(\/docs\/[^"#]*)?#([^"]+)"/g)]
      .map(([, path, part = '']) => ({
        file: path === undefined ? page : path.slice('/docs/'.length) || 'index.html',
        part,
      }))
      .filter(({ file, part }) => {
        const target = join(dist, file);
        const id = decodeURIComponent(part);
        return !existsSync(target) || !readFileSync(target, 'utf8').includes(`id="${id}"`);
      })
      .map(({ file, part }) => `${page}: ${file}#${part}`);
  });
  expect([...new Set(dead)]).toEqual([]);
});

withChromium('in Chromium', (browser) => {
  test('questions find their page first, under the policy of the server', async () => {
    const app = new Hono();
    addDocs(app, dist);
    const port = await freePort();
    const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' });
    const page = (await browser.context.newPage()) as unknown as Page;
    const faults: string[] = [];
    page.on('console', (said) => {
      if (said.type() === 'error') faults.push(said.text());
    });
    page.on('pageerror', ({ message }) => faults.push(message));
    try {
      await page.goto(`http://127.0.0.1:${port}/docs/`);
      await page.getByRole('button', { name: 'Search' }).click();
      const field = page.getByRole('searchbox');
      const missed: unknown[] = [];
      for (const { question, page: wanted } of questions) {
        await field.fill('');
        await page.locator('.results .result').first().waitFor({ state: 'detached' });
        await field.fill(question);
        const first = page.locator('.results .result').first();
        await first.waitFor();
        const found = await first.getAttribute('href');
        if (!found?.includes(`/${wanted}.html`)) missed.push({ question, wanted, found });
      }
      expect(missed).toEqual([]);
      expect(faults).toEqual([]);
    } finally {
      await page.close();
      server.close();
    }
  }, 120_000);
});
