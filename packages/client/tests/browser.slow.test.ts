/** The client as it is published, loaded as a module by a page of the server's origin. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { bundlePackage } from '../../../scripts/bundle.ts';
import { start } from '../../../tests/support/server/serving.ts';
import { withChromium } from '../../../tests/support/tools/browser/with-chromium.ts';

/** Proposes, and follows the log up to the entry of the proposal. */
const PAGE = `<!doctype html><pre></pre><script type="module">
  import { AssizeClient } from '/test/index.js';
  const { agent, auditor } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const as = (token) => new AssizeClient({ url: location.origin, token });
  const proposal = { action: 'pay', role: { name: 'clerk', params: { desk: 'a' } }, args: { amount: 10 } };
  const { ruling, entry_id } = await as(agent).propose('main', proposal, { key: 'page' });
  for await (const { kind, entry } of as(auditor).events({ trajectory: 'main', after: -1 }))
    if (entry.id === entry_id) {
      document.querySelector('pre').textContent = ruling + ', and event ' + kind;
      break;
    }
</script>`;

withChromium('in Chromium', (browser) => {
  test('a page proposes, and follows the events of the log', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-client-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await bundlePackage(join(import.meta.dirname, '..'), ['src/index.ts'], folder);
    const server = await start();
    const page = (await browser.context.newPage()) as unknown as Page;
    const files: Readonly<Record<string, string>> = {
      'text/html': PAGE,
      'text/javascript': readFileSync(join(folder, 'src/index.js'), 'utf8'),
    };
    await page.route('**/test/*', (route) => {
      const contentType = route.request().url().endsWith('.js') ? 'text/javascript' : 'text/html';
      return route.fulfill({ contentType, body: files[contentType] as string });
    });
    const tokens = new URLSearchParams({
      agent: server.tokens['agent:scout'],
      auditor: server.tokens['auditor:eve'],
    });
    await page.goto(`${server.url}/test/page.html#${tokens}`);
    await expect.poll(() => page.textContent('pre')).toBe('committed, and event commit');
    await page.close();
  });
});
