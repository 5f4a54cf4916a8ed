/** The page of all entries, in a real Chromium. */
import { expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { callOperation, pay, succeed } from '../support/server/calling.ts';

withConsole(({ serve, open }) => {
  test('entries of all trajectories are found, and the address keeps the filters', async () => {
    const server = await serve();
    const key = (n: number): string => `key-${n}`;
    for (let n = 0; n < 120; n++) await succeed(server, 'proposals.create', pay('a', 1, key(n)));
    await succeed(server, 'proposals.create', pay('<b>late</b>', 200, 'big'));
    await callOperation(server, 'proposals.create', {
      ...pay('away', 3, 'other', { path: { trajectory: 'other' } }),
      token: server.tokens['agent:other'],
    });
    const page = await open(server, 'boss:ada', '/activity');
    const list = page.getByRole('region', { name: 'Entries' });
    const rows = list.getByRole('listitem');
    await rows.nth(99).waitFor();
    await rows.first().getByText('agent:other in other').waitFor();
    await expectAccessible(page);
    // The rest is loaded when the list is scrolled.
    await rows.nth(99).scrollIntoViewIfNeeded();
    const { entries } = await succeed(server, 'entries.find', { query: { limit: '500' } });
    expect(entries.length).toBeGreaterThan(100);
    await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(entries.length);

    await page.getByRole('combobox', { name: 'Who' }).fill('agent:scout');
    await page.getByLabel('When', { exact: true }).fill('today');
    await page.getByLabel('Search', { exact: true }).fill('<B>late');
    await page.getByRole('combobox', { name: 'Ruling' }).click();
    await page.getByRole('option', { name: 'Escalated' }).click();

    await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(1);
    await list.getByText('<b>late').waitFor();
    const address = new URL(page.url());
    expect(Object.fromEntries(address.searchParams)).toEqual({
      ...{ principal: 'agent:scout', when: 'today', ruling: 'escalated', text: '<B>late' },
    });

    const shared = await open(server, 'auditor:eve', `${address.pathname}${address.search}`, {
      ...{ scheme: 'dark', width: 390 },
    });
    const found = shared.getByRole('region', { name: 'Entries' });
    await found.getByText('<b>late').waitFor();
    await expectAccessible(shared);
    expect(await shared.evaluate('document.documentElement.scrollWidth')).toBe(390);

    // A new entry appears by itself.
    await shared.getByLabel('Search', { exact: true }).fill('');
    await succeed(server, 'proposals.create', pay('more', 200, 'more'));
    await found.getByText('more').first().waitFor();
    await shared.getByLabel('When', { exact: true }).fill('soon');
    await shared.getByText('Write a day, times or a span').waitFor();
    await shared.getByLabel('When', { exact: true }).fill('yesterday');
    await shared.getByText('No entry matches').waitFor();
    await shared.getByRole('button', { name: 'Clear the filters' }).click();
    await found.getByRole('link').first().click();
    await shared.waitForURL(/\/timeline\//);
  });
});
