/** Mined rules in the console, in a real Chromium. */
import { expect, test } from 'vitest';
import { gateway } from '#domains/gateway';
import type { Domain } from '#kernel';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { minedDesk } from '../support/server/mined-desk.ts';
import { UNGRANTED } from '../support/server/serving.ts';

withConsole(({ serve, open }) => {
  test('rules have their exceptions, a backtest, and a text to copy', async () => {
    const config = { tools: [], worlds: {} };
    const domains = [gateway() as unknown as Domain];
    const server = await serve({
      store: await minedDesk(),
      domains,
      config,
      principals: UNGRANTED,
    });
    const page = await open(server, 'boss:ada', '/what-if/desk');
    const before = await server.contents();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const part = page.getByRole('region', { name: 'Rules that your runs obey' });
    await part.getByRole('button', { name: 'Find rules' }).click();
    await part.getByText(/^\d+ rules? in 40 runs with 80 committed calls\.$/).waitFor();
    const ordering = part.getByRole('article', { name: /bank\/pay only after crm\/get/ });
    expect(await ordering.getByRole('link').getAttribute('href')).toMatch(
      /^\/timeline\/desk\/\d+$/,
    );
    expect(await ordering.getByRole('button').count()).toBe(0);
    const approval = part.getByRole('article', { name: /a person approves each call/ });
    await approval.getByRole('button', { name: 'Backtest' }).click();
    await approval.getByText(/would change none of \d+ rulings/).waitFor();
    await approval.getByRole('button', { name: 'Copy as rule' }).click();
    await approval.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('ask: bank/pay');
    await expectAccessible(page);
    expect(await server.contents()).toEqual(before);
  });

  test('a trajectory without runs has no rule, and a reason', async () => {
    const server = await serve();
    const page = await open(server, 'boss:ada', '/what-if/main');
    await page.getByRole('button', { name: 'Find rules' }).click();
    await page
      .getByText(/^No rule in \d+ runs? with 0 committed calls\. No run was mined: /)
      .waitFor();
  });
});
