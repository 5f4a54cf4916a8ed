/** The console over much data, in a real Chromium: what it draws and asks for stays small. */
import { expect, test } from 'vitest';
import { withConsole } from '../support/console/browser.ts';
import { succeed } from '../support/server/calling.ts';

const DESKS = 20_000;
const PAGE = 200;

withConsole(({ serve, open }) => {
  test('a large world is shown by pages of its members, and searched by name', async () => {
    const server = await serve();
    const desks = Object.fromEntries(
      Array.from({ length: DESKS }, (_, n) => [`desk${n}`, { sum: n % 50 }]),
    );
    const body = { domain: 'till', trajectory_id: 'wide', initial: { desks } };
    await succeed(server, 'trajectories.create', { body });
    const page = await open(server, 'auditor:eve', '/timeline/wide/0');
    await page.getByText('The value is too large to show here (1 member)').waitFor();
    const sizes: number[] = [];
    page.on('response', async (response) => {
      if (response.url().includes('/outline')) sizes.push((await response.body()).length);
    });
    await page.goto(`${server.url}/timeline/wide/0?view=state&place=/desks`);
    const members = page
      .getByLabel('State after the entry 0', { exact: true })
      .getByRole('listitem');
    await page.getByText('20,000 members, the first 200 shown').waitFor();
    expect(await members.count()).toBe(PAGE);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('20,000 members, the first 400 shown').waitFor();
    expect(await members.count()).toBe(2 * PAGE);
    await page.getByLabel('Find a member').fill('DESK1234');
    await page.getByText('11 members', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'desk12345' }).click();
    await page.getByText('"sum": 45').waitFor();
    expect(page.url()).toContain('place=%2Fdesks%2Fdesk12345');
    expect(Math.max(...sizes)).toBeLessThan(50_000);
  });
});
