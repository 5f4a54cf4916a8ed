/** Comparisons of architectures in the console, in a real Chromium. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { budget } from '#domains/budget';
import { incident } from '#domains/incident';
import type { Domain } from '#kernel';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { expectFitting } from '../support/console/page-checks.ts';
import { startTour, type Tour } from '../support/console/tour.ts';

const partOf = (page: Page) => page.getByRole('region', { name: 'Other architectures' });

async function compare(page: Page, domain: RegExp): Promise<void> {
  const part = partOf(page);
  await part.getByRole('combobox', { name: 'Domain' }).click();
  await page.getByRole('option', { name: domain }).click();
  await part.getByRole('button', { name: 'Compare' }).click();
}

withConsole(({ serve, open, blank }) => {
  let tour: Tour;
  beforeAll(async () => {
    tour = await startTour();
  });
  afterAll(() => tour?.end());

  test('on the tour, microservices break rules of udt and the kernel none', async () => {
    const page = await blank();
    await page.goto(tour.links.auditor);
    await page.getByText('Live').waitFor();
    await page.goto(`${tour.url}/what-if/expenses`);
    await compare(page, /^udt@/);
    const part = partOf(page);
    await part.getByText(/^udt@\S+ under 2 architectures$/).waitFor();
    const row = (name: string) => part.getByRole('row', { name: new RegExp(`^${name}`) });
    const cells = (name: string) => row(name).getByRole('cell').allTextContents();
    expect(await cells('microservices')).toEqual(['400', ...Array(3).fill(expect.any(String)), 'in 29 schedules']);
    expect(await cells('kernel')).toEqual(['400', ...Array(3).fill(expect.any(String)), 'none']);
    await part.getByRole('article', { name: 'microservices breaks CLAIM_TIER_CURRENT' }).waitFor();
    await part
      .getByText(
        /no schedule broke a rule, in 400 schedules of 2 agents with 1 turn each: all schedules of each of 100 cases/,
      )
      .waitFor();
    for (const width of [1280, 820, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await expectFitting(page);
    }
    await expectAccessible(page);
  });

  test('a broken rule has its shortest schedule, and nothing is written', async () => {
    const server = await serve();
    const page = await open(server, 'auditor:eve', '/what-if/cash');
    const contents = await server.contents();
    const part = partOf(page);
    expect(await part.getByRole('combobox', { name: 'Domain' }).inputValue()).toBe('budget@1');
    await part.getByLabel('Schedules').fill('40');
    await part.getByRole('button', { name: 'Compare' }).click();
    const rule = part.getByRole('article', { name: 'microservices breaks BUDGET_CAP, as a skew' });
    const steps = rule.getByRole('list').last().getByRole('listitem');
    await steps.first().waitFor();
    const texts = await steps.allTextContents();
    const [one, two, first, last] = texts.slice(-4);
    expect([one, two]).toEqual([expect.stringMatching(/ reads$/), expect.stringMatching(/ reads$/)]);
    expect(first).toMatch(/ submits spend \{"amount":\d+\}Committed$/);
    expect(last).toMatch(/ submits spend \{"amount":\d+\}CommittedBreaks BUDGET_CAP: spent \d+ of \d+$/);
    const [place, before, after] = await rule.getByRole('row').nth(1).locator('th, td').allTextContents();
    expect([place, before]).toEqual([expect.stringMatching(/^\/spent\//), 'none']);
    await rule.getByText('State after the last step').click();
    expect(await rule.getByRole('region').textContent()).toContain(`"${place?.slice('/spent/'.length)}": ${after}`);
    await part
      .getByRole('article', { name: 'kernel' })
      .getByText(/no schedule broke a rule/)
      .waitFor();
    expect(await server.contents()).toEqual(contents);
  });

  test('a domain without an agent that can begin, and a failed request', async () => {
    const server = await serve({
      domains: [budget, incident] as unknown as Domain[],
      config: { worlds: {}, tools: [] },
    });
    const page = await open(server, 'auditor:eve', '/what-if');
    await compare(page, /^incident@/);
    await page.getByRole('heading', { name: 'No agent of this domain can begin' }).waitFor();
    await expectAccessible(page);
    await page.route('**/v1/comparisons', (route) => route.abort());
    await compare(page, /^budget@/);
    await page.getByRole('alert').getByText('The server does not answer').waitFor();
    await page.unroute('**/v1/comparisons');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('article', { name: 'kernel' }).waitFor();
  });

  test.each(['light', 'dark'] as const)('it fits, and breaks no rule of accessibility: %s', async (scheme) => {
    const server = await serve();
    const page = await open(server, 'auditor:eve', '/what-if/cash', { scheme });
    await partOf(page).getByRole('textbox', { name: 'Schedules' }).fill('20');
    await partOf(page).getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('article', { name: 'kernel' }).waitFor({ timeout: 120_000 });
    for (const width of [1280, 820, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await expectFitting(page);
      await expectAccessible(page);
    }
  });
});
