/** Backtests in the console, in a real Chromium. */
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { startTour } from '../support/console/tour.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';
import { laterTill } from '../support/server/till.ts';

/** 1 pays 10; 2 is refused; 3 pays 60; 4 waits. */
async function story(server: TestServer): Promise<void> {
  for (const [n, [desk, amount]] of (
    [
      ['a', 10],
      ['a', 5_000],
      ['b', 60],
      ['c', 200],
    ] as const
  ).entries())
    await succeed(server, 'proposals.create', pay(desk, amount, `k${n}`));
}

const ASKS = JSON.stringify({
  id: 'fifty',
  otherwise: 'allow',
  rules: [
    {
      id: 'fifty-asks',
      effect: 'needs_approval',
      actions: ['pay'],
      because: 'Fifty <b>needs\u202e</b> a person.',
      where: [{ path: '/amount', min: 50 }],
    },
  ],
});

const RULES = 'Rule table (JSON)';

async function run(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run the backtest' }).click();
}

withConsole(({ serve, open, blank }) => {
  test('another limit in the rules in force changes the rulings it is about', async () => {
    const tour = await startTour();
    onTestFinished(() => tour.end());
    const page = await blank();
    await page.goto(tour.links.auditor);
    await page.getByRole('heading', { name: 'Needs you' }).waitFor();
    await page.goto(`${tour.url}/what-if/bills`);
    const field = page.getByLabel('Rules file (YAML)');
    const entries = page.getByRole('region', { name: 'Entries that differ' });
    const begun = await field.inputValue();
    const line = '{ id: large, ask: [bank/pay], amount: { min: 10000, unit: cents } }';
    expect(begun).toContain(line);
    const given = [
      [5_000, /Committed.*Escalated/],
      [20_000, /Escalated.*Committed/],
    ] as const;
    for (const [min, ruled] of given) {
      await field.fill(begun.replace('10000', String(min)));
      await page.getByRole('region', { name: 'Changed lines' }).getByText(`min: ${min}`).waitFor();
      await run(page);
      await page.getByRole('heading', { name: /^\d+ of \d+ rulings would differ/ }).waitFor();
      const rows = await entries.locator('tbody tr').allInnerTexts();
      expect(rows.length).toBeGreaterThan(1);
      const [low, high] = [min, 10_000].sort((a, b) => a - b) as [number, number];
      for (const row of rows) {
        const [, euros = ''] = /Pay "\/suppliers\/[a-z-]+" €([\d.]+)/.exec(row) ?? [];
        const cents = Number(euros.replace('.', ''));
        expect([cents >= low, cents < high], row).toEqual([true, true]);
        expect(row.replaceAll(/\s+/g, ' ')).toMatch(ruled);
      }
      await expectAccessible(page);
    }
  });

  test('an edited rule table shows the first ruling that differs', async () => {
    const server = await serve();
    await story(server);
    const page = await open(server, 'boss:ada', '/what-if');
    const before = await server.contents();
    await page.getByRole('combobox', { name: 'World' }).click();
    await page.getByRole('option', { name: /main/ }).click();
    await page.getByLabel(RULES).fill(ASKS);
    await run(page);
    await page.getByRole('heading', { name: '1 of 4 rulings would differ' }).waitFor();
    const first = page.getByRole('region', { name: 'First ruling that differs' });
    await first.getByText('committed').waitFor();
    await first.getByText('fifty-asks').waitFor();
    await first.getByText('Fifty <b>needs\\u202e</b> a person.').waitFor();
    expect(await first.getByRole('link', { name: 'Entry 3' }).getAttribute('href')).toBe(
      '/timeline/main/3',
    );
    expect(new URL(page.url()).searchParams.get('table')).toBe(ASKS);
    expect(await server.contents()).toEqual(before);
    await page.reload();
    await page.getByRole('heading', { name: '1 of 4 rulings would differ' }).waitFor();
    const reader = await open(
      server,
      'auditor:eve',
      new URL(page.url()).pathname + new URL(page.url()).search,
    );
    await reader.getByRole('heading', { name: '1 of 4 rulings would differ' }).waitFor();
    expect(await reader.getByLabel(RULES).inputValue()).toContain('"fifty-asks"');
    await reader.getByLabel(RULES).fill(ASKS.replace('50', '5'));
    await reader.reload();
    await reader.getByText('Changed since the shown result.').waitFor();
    await reader.getByRole('heading', { name: '1 of 4 rulings would differ' }).waitFor();
  });

  test('a link with a table that is too long for it runs no other table', async () => {
    const server = await serve();
    await story(server);
    const page = await open(server, 'boss:ada', '/what-if/main');
    await page.getByLabel(RULES).fill(ASKS.replace('Fifty', 'Fifty '.repeat(800)));
    await run(page);
    await page.getByRole('heading', { name: '1 of 4 rulings would differ' }).waitFor();
    const { pathname, search } = new URL(page.url());
    expect(search).toMatch(/table=sha256%3A[0-9a-f]{64}/);
    await page.reload();
    await page.getByRole('heading', { name: '1 of 4 rulings would differ' }).waitFor();
    const reader = await open(server, 'auditor:eve', pathname + search);
    await reader
      .getByRole('heading', { name: 'This link was made with another rule table' })
      .waitFor();
    await run(reader);
    await reader.getByRole('heading', { name: /rulings would differ/ }).waitFor();
    expect(new URL(reader.url()).searchParams.has('table')).toBe(false);
  });

  test('a count selects its entries, and the range limits what is compared', async () => {
    const server = await serve();
    await story(server);
    const page = await open(server, 'auditor:eve', '/what-if/main?from=2');
    const deny = JSON.stringify({ id: 'none', otherwise: 'deny', rules: [] });
    await page.getByLabel(RULES).fill(deny);
    await page.getByLabel(RULES).press('Control+Enter');
    await page.getByRole('heading', { name: '3 of 3 rulings would differ' }).waitFor();
    const counts = page.getByRole('region', { name: 'Counts' });
    const entries = page.getByRole('region', { name: 'Entries that differ' });
    expect(await entries.getByRole('link').allTextContents()).toEqual(['2', '3', '4']);
    await counts
      .getByRole('row', { name: /pay Committed Rejected/ })
      .getByRole('button')
      .click();
    await entries.getByText('1 of 3').waitFor();
    expect(await entries.getByRole('link').allTextContents()).toEqual(['3']);
    expect(page.url()).toContain('only=pay%3Acommitted%3Arejected');
    await page.reload();
    await entries.getByText('1 of 3').waitFor();
    await page.getByLabel('To entry').fill('3');
    await page.getByText('Changed since the shown result.').waitFor();
    await run(page);
    await page.getByRole('heading', { name: '2 of 2 rulings would differ' }).waitFor();
    expect(page.url()).toMatch(/from=2&.*to=3/);
    await page.getByRole('heading', { name: 'Entries that differ' }).click();
    await page.keyboard.press('j');
    await page
      .locator('a:focus')
      .and(entries.getByRole('link', { name: '2' }))
      .waitFor();
  });

  test('another version of the domain is tried, by the address alone', async () => {
    const server = await serve();
    await story(server);
    const page = await open(
      server,
      'boss:ada',
      `/what-if/main?try=domain&domain=${laterTill.hash}&run=1`,
    );
    await page.getByRole('heading', { name: 'No ruling would differ' }).waitFor();
    await page.getByText('till@2 in place of till@1').waitFor();
    const cash = await open(server, 'boss:ada', '/what-if/cash?try=domain');
    await cash.getByText(/the server has no other version of it/).waitFor();
    expect(await cash.getByRole('button', { name: 'Run the backtest' }).isDisabled()).toBe(true);
  });

  test('a rule for an action that does not exist is named', async () => {
    const server = await serve();
    await story(server);
    const page = await open(server, 'boss:ada', '/what-if/main');
    await page.getByLabel(RULES).fill(ASKS.replace('["pay"]', '["pya"]'));
    await run(page);
    await page.getByRole('heading', { name: 'No ruling would differ' }).waitFor();
    await page
      .getByRole('alert')
      .getByText('Rule fifty-asks: the domain has no action pya')
      .waitFor();
    await expectAccessible(page);
    await page.getByLabel(RULES).fill(ASKS);
    await run(page);
    await page.getByRole('heading', { name: '1 of 4 rulings would differ' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('a table that is wrong says where', async () => {
    const server = await serve();
    const page = await open(server, 'boss:ada', '/what-if/main');
    await page.getByLabel(RULES).fill('{ "id": ');
    await page.getByText('This is not JSON.').first().waitFor();
    expect(await page.getByRole('button', { name: 'Run the backtest' }).isDisabled()).toBe(true);
    await page
      .getByLabel(RULES)
      .fill('{ "id": "x", "otherwise": "deny", "rules": [{ "id": "a" }] }');
    await run(page);
    await page.getByRole('alert').getByText('/rules/0/effect').waitFor();
    await page.getByText('Another version', { exact: true }).click();
    await page.getByRole('heading', { name: 'Run the backtest again' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByText('A rule table', { exact: true }).click();
    await page.getByRole('alert').getByText('/rules/0/effect').waitFor();
    await page.getByRole('button', { name: 'Back to the example' }).click();
    expect(await page.getByLabel(RULES).inputValue()).toContain('"pay"');
  });

  test.each(['light', 'dark'] as const)(
    'no rule of accessibility is broken: %s',
    async (scheme) => {
      const server = await serve();
      await story(server);
      for (const width of [1280, 820, 360]) {
        const page = await open(server, 'boss:ada', '/what-if/main?run=1', { scheme, width });
        await page.getByRole('heading', { name: /rulings would differ/ }).waitFor();
        await expectAccessible(page);
        await page.getByRole('region', { name: 'Counts' }).getByRole('button').first().click();
        await expectAccessible(page);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          width,
        );
      }
    },
  );
});
