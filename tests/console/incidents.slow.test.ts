/** The blast radius and the response to an incident in the console, in a real Chromium. */
import { expect, test } from 'vitest';
import { incident } from '#domains/incident';
import type { Domain } from '#kernel';
import { expectAccessible, showIn, withConsole } from '../support/console/browser.ts';
import { expectFitting } from '../support/console/page-checks.ts';
import { pay, succeed } from '../support/server/calling.ts';
import { PRINCIPALS, type TestServer } from '../support/server/serving.ts';
import { till } from '../support/server/till.ts';

const served = {
  domains: [till, incident] as unknown as Domain[],
  principals: { ...PRINCIPALS, 'human:ida': { kinds: ['counselor'] as const } } as never,
  config: { worlds: { main: { domain: 'till' }, spare: { domain: 'till' } } },
};

const paid = (server: TestServer, desk: string, n: number): Promise<any> =>
  succeed(server, 'proposals.create', pay(desk, n, `k${desk}${n}`));

withConsole(({ serve, open }) => {
  test('from an entry to the graph, by keys, and back to an entry', async () => {
    const server = await serve(served);
    const first = await paid(server, 'a', 1);
    await paid(server, 'a', 2);
    await paid(server, 'b', 200);
    const page = await open(server, 'auditor:eve', `/timeline/main/${first.seq}`);
    await page.getByRole('link', { name: 'Show derived entries' }).click();
    await page.waitForURL(/\/incidents\?entry=[0-9a-f]{64}$/);
    const graph = page.getByRole('navigation', { name: 'Affected entries and their derivations' });
    await graph.waitFor();
    const nodes = graph.getByRole('link');
    expect(
      await nodes.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label'))),
    ).toEqual(['1 pay, in main; start', '2 pay, in main; state of main@1']);
    expect(await page.locator('path[data-how="state"]').count()).toBe(2);
    await page
      .getByRole('list', { name: 'Derivations' })
      .getByText('state: it changes a written path')
      .waitFor();
    await nodes.nth(1).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/timeline\/main\/2$/);
  });

  test('the palette opens the page, and a search has its own address', async () => {
    const server = await serve(served);
    await paid(server, 'a', 1);
    await paid(server, 'b', 200);
    const page = await open(server, 'auditor:eve', '/inbox');
    await page.getByText('Live').waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('input:focus').and(page.getByLabel('Go to')).waitFor();
    await page.keyboard.type('blast radius');
    await page.getByRole('button', { name: /^Incidents/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    await page.getByRole('combobox', { name: 'Begins with' }).click();
    await page.getByRole('option', { name: 'Principal' }).click();
    await page.getByLabel('Name or id').fill('agent:scout');
    await page.getByRole('button', { name: 'Find what derives' }).click();
    await page.waitForURL('**/incidents?principal=agent%3Ascout');
    await page.getByText(/^2 entries of \d+\.$/).waitFor();
    await page.getByText(/^pay, entry main@2$/).waitFor();
    await page.getByText('Administrators propose responses.').waitFor();
    for (const scheme of ['light', 'dark'] as const) {
      await showIn(page, scheme);
      await expectAccessible(page);
    }
    await expectFitting(page);
  });

  test('an administrator sees the plan, and another person approves it', async () => {
    const server = await serve(served);
    await paid(server, 'a', 1);
    const page = await open(server, 'admin:ann', '/incidents?principal=agent%3Ascout');
    await page.getByRole('button', { name: 'Propose the response…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Revoke the writ').waitFor();
    await dialog.getByText(/the grants and credentials of agent:scout/).waitFor();
    await expectAccessible(page);
    const waiting = async () =>
      (await succeed(server, 'approvals.list', { as: 'auditor:eve' })).approvals;
    expect(await waiting()).toEqual([]);
    await dialog.getByLabel('Reason').fill('the token leaked');
    await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
    await page.getByText('The response is proposed').waitFor();
    await page.getByText('waits for a person, proposed by').waitFor();
    const [{ id, digest }] = await waiting();
    const token = (server.tokens as unknown as Record<string, string>)['human:ida'] as string;
    await succeed(server, 'approvals.approve', { path: { approval: id }, body: { digest }, token });
    const response = page.getByRole('article');
    await response.getByText('the token leaked').waitFor();
    await response.getByText('done:').waitFor();
    await response.getByText(/closed/).waitFor();
  });

  test('more than 200 entries are a list', async () => {
    const server = await serve(served);
    const proposals = Array.from({ length: 201 }, (_, n) => ({
      ...{
        key: `n${n}`,
        action: 'pay',
        role: { name: 'clerk', params: { desk: `d${n % 100}` } },
        args: { amount: 1 },
      },
    }));
    for (const part of [proposals.slice(0, 100), proposals.slice(100, 200), proposals.slice(200)])
      await succeed(server, 'proposals.create_many', {
        ...{ as: 'agent:scout', path: { trajectory: 'main' }, body: { proposals: part } },
      });
    const page = await open(server, 'auditor:eve', '/incidents?principal=agent%3Ascout');
    await page.getByText(/^201 entries of/).waitFor();
    expect(await page.locator('svg path[data-how]').count()).toBe(0);
    await page
      .getByText(/; state of/)
      .first()
      .waitFor();
  });
});
