/** The timeline of the console, in a real Chromium. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatVerifierKey, signerKey } from '#merkle';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

const MAIN = { trajectory: 'main' };

/** Payments of the desk a, one entry each. */
async function paid(server: TestServer, count: number, from = 0): Promise<void> {
  for (let n = from; n < from + count; n += 1)
    await succeed(server, 'proposals.create', pay(`d${n}`, 1, `p${n}`, { as: 'agent:scout' }));
}

/** The places of the shown rows, the first first. */
async function rowsOf(page: Page): Promise<readonly string[]> {
  const links = await page
    .locator('li a')
    .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
  return links.map((href) => /\/(\d+)(?:\?|$)/.exec(href)?.[1] ?? '');
}

withConsole(({ serve, open }) => {
  test('entries are listed newest first, and a new one appears immediately', async () => {
    const server = await serve();
    await paid(server, 5);
    const page = await open(server, 'auditor:eve', '/timeline/main');
    await expect
      .poll(() => rowsOf(page), { timeout: 30_000 })
      .toEqual(['5', '4', '3', '2', '1', '0']);
    await page.getByText('Live').waitFor();
    await paid(server, 1, 5);
    await expect
      .poll(() => rowsOf(page), { timeout: 30_000 })
      .toEqual(['6', '5', '4', '3', '2', '1', '0']);
  });

  test('an entry shows its ruling in words, its state, and a checked hash', async () => {
    const server = await serve();
    await paid(server, 2);
    await succeed(server, 'proposals.create', pay('a', 2_000, 'large'));
    const page = await open(server, 'auditor:eve', '/timeline/main/3');
    await page.getByText('more than 1,000').first().waitFor();
    for (const [tab, text] of [
      ['State here', /"d1"/],
      ['Record and proof', /hash/i],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByText(text).first().waitFor();
      await expectAccessible(page);
    }
    const { id } = (await succeed(server, 'entries.list', { path: MAIN })).entries[3];
    await page.getByText(id.slice(0, 12)).first().waitFor();
  });

  test('an escalated entry names the person that decided, and the decision', async () => {
    const server = await serve();
    const { approval_id: approval } = await succeed(server, 'proposals.create', pay('b', 200, 'k'));
    const page = await open(server, 'auditor:eve', '/timeline/main/1');
    await page.getByText('waits for a decision in the').waitFor();
    const { approvals } = await succeed(server, 'approvals.list', {
      as: 'boss:ada',
      query: { mine: 'true' },
    });
    const { digest } = approvals[0];
    await succeed(server, 'approvals.approve', {
      as: 'boss:ada',
      path: { approval },
      body: { digest },
    });
    await page.getByText('approved by boss:ada').waitFor();
    await page.getByRole('link', { name: 'entry main@2' }).first().click();
    await page.getByText('Why it was committed').waitFor();
  });

  test('the browser verifies the proof of an entry, and finds a changed one', async () => {
    const server = await serve();
    await paid(server, 2);
    const { size, key } = await succeed(server, 'checkpoints.create');
    const page = await open(server, 'auditor:eve', '/timeline/main/2?view=record');
    await page
      .getByText(new RegExp(`✓ Entry \\d+ of the ${size} entries that the key signed`))
      .waitFor();
    const other = (await succeed(server, 'entries.proof', { path: { entry: 'main@1' } })).proof;
    const proofOf = (body: object) =>
      page.route('**/proof', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), ...body } });
      });
    for (const [body, says] of [
      [{ proof: other }, '✕ The proof does not lead from this entry'],
      [
        { key: formatVerifierKey(signerKey(key.split('+')[0] as string, 'note', '01'.repeat(32))) },
        '✕ The key of the log',
      ],
      [{ proof: 'c2sp.org/tlog-proof@v2' }, '✕ The proof'],
    ] as const) {
      await proofOf(body);
      await page.reload();
      await page.getByText(says).waitFor();
      await page.unroute('**/proof');
    }
  });

  test('filters are in the address, and find the refused entries', async () => {
    const server = await serve();
    await paid(server, 3);
    await succeed(server, 'proposals.create', pay('a', 2_000, 'large'));
    const page = await open(server, 'auditor:eve', '/timeline/main?ruling=rejected', {
      scheme: 'dark',
    });
    await expect.poll(() => rowsOf(page), { timeout: 30_000 }).toEqual(['4']);
    await expectAccessible(page);
  });

  test('two points of a trajectory are compared', async () => {
    const server = await serve();
    await paid(server, 3);
    const page = await open(server, 'auditor:eve', '/timeline/main/3');
    await page.getByRole('tab', { name: 'Compare' }).click();
    await page.getByLabel('Compare with the state after').fill('1');
    await page.keyboard.press('Enter');
    await page.getByText('/desks/d2').first().waitFor();
    await expectAccessible(page);
  });
});
