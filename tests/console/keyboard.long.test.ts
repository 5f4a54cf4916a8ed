/** The console without a mouse: the inbox, the palette of pages, and dialogs. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectAccessible, showIn, withConsole } from '../support/console/browser.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

const MAIN = { trajectory: 'main' };
const PAGES = {
  ...{ Inbox: '/inbox', 'Needs you': '/needs', Timeline: '/timeline', Lab: '/what-if' },
  ...{ Effects: '/effects', Memory: '/memory', Agents: '/agents', Audit: '/audit' },
  Incidents: '/incidents',
};
/** The elements at which the key Tab stops. */
const STOPS = 'a[href], button, input, [tabindex="0"]';
/** More steps of the key Tab than any way through a page has. */
const STEPS_MAX = 80;

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, element: Locator): Promise<void> {
  for (let n = 0; n < STEPS_MAX; n += 1) {
    if (await element.evaluate((one) => one === one.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`The key Tab does not reach ${element}.`);
}

async function sums(
  server: TestServer,
): Promise<Record<string, { readonly sum: number; readonly by?: string }>> {
  return (await succeed(server, 'trajectories.state', { path: MAIN })).state.desks;
}

/** Payments that wait for the boss, the first for 200, each for one more. */
async function waiting(server: TestServer, ...desks: readonly string[]): Promise<void> {
  for (const [n, desk] of desks.entries())
    await succeed(server, 'proposals.create', pay(desk, 200 + n, `k${desk}`));
}

withConsole(({ serve, open }) => {
  test('every page is reached by the palette, from any page', async () => {
    const server = await serve();
    const page = await open(server, 'admin:ann', '/inbox');
    await page.getByText('Live').waitFor();
    for (const [name, path] of Object.entries(PAGES).toReversed()) {
      await page.keyboard.press('Control+k');
      await page.locator('input:focus').and(page.getByLabel('Go to')).waitFor();
      if (name === 'Timeline')
        for (const colorScheme of ['light', 'dark'] as const) {
          await showIn(page, colorScheme);
          await expectAccessible(page);
        }
      await page.keyboard.type(name);
      await page
        .getByRole('button', { name: new RegExp(`^${name}`) })
        .last()
        .waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(new RegExp(path));
      await page.getByLabel('Go to').waitFor({ state: 'hidden' });
    }
  });

  test('the first stop of Tab leads to the list, the open item or the page', async () => {
    const server = await serve();
    await waiting(server, 'a');
    const { approvals } = await succeed(server, 'approvals.list', { as: 'boss:ada' });
    for (const [path, role, name] of [
      ['/activity', 'main', undefined],
      ['/inbox', 'region', 'Waiting proposals'],
      [`/inbox/${approvals[0].id}`, 'region', 'Proposal'],
    ] as const) {
      const page = await open(server, 'boss:ada', path);
      await page.getByText('Live').waitFor();
      const skip = page.getByRole('button', { name: 'Skip to the content' });
      expect(await page.locator(STOPS).first().textContent()).toBe('Skip to the content');
      await skip.focus();
      await expectAccessible(page);
      await page.keyboard.press('Enter');
      await page
        .locator(':focus')
        .and(page.getByRole(role, { ...(name !== undefined && { name, exact: true }) }))
        .waitFor();
    }
  });

  test('the palette opens a waiting proposal, a trajectory and an entry', async () => {
    const server = await serve();
    await waiting(server, 'a');
    const page = await open(server, 'boss:ada', '/audit');
    await page.getByText('Live').waitFor();
    const { approvals } = await succeed(server, 'approvals.list', {
      as: 'boss:ada',
      query: { mine: 'true' },
    });
    const { id } = approvals[0];
    for (const [typed, choice, path] of [
      ['more than 100', /^pay/, `/inbox/${id}`],
      ['spare', /^spare/, '/timeline/spare'],
      [id, /^Entry/, '/timeline/main/1'],
      ['main@0', /^Entry main@0/, '/timeline/main/0'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.locator('input:focus').and(page.getByLabel('Go to')).waitFor();
      await page.keyboard.type(typed);
      await page.getByRole('button', { name: choice }).last().waitFor();
      await page.keyboard.press('Enter');
      await expect.poll(() => new URL(page.url()).pathname).toBe(path);
      await page.locator('input').and(page.getByLabel('Go to')).waitFor({ state: 'hidden' });
    }
    await page.keyboard.press('Control+k');
    await page.locator('input:focus').and(page.getByLabel('Go to')).waitFor();
    await page.keyboard.type('main@99');
    await page.keyboard.press('Enter');
    await page.getByText(/no entry/).waitFor();
  });

  test('the inbox: move, open, approve, and reject with a reason', async () => {
    const server = await serve();
    await waiting(server, 'a', 'b');
    const page = await open(server, 'boss:ada', '/inbox');
    await page.getByRole('button', { name: /^pay/ }).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const current = page.locator('li [aria-current]');
    const second = page.url();
    await page.keyboard.press('k');
    await expect.poll(() => page.url()).not.toBe(second);
    expect(await current.count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.getByText('Choose a proposal').waitFor();
    await page.keyboard.press('j');
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await expect.poll(() => sums(server)).toEqual({ a: { sum: 200, by: 'boss:ada' } });
    await page.getByText('Choose a proposal').waitFor();
    await page.keyboard.press('j');
    await page.getByRole('button', { name: /^Reject/ }).waitFor();
    await page.keyboard.press('r');
    await page.locator('input:focus').and(page.getByLabel('Reason')).waitFor();
    await page.keyboard.type('not due');
    // Enter does what the key `r` began, and approves nothing.
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits').waitFor();
    expect(await sums(server)).toEqual({ a: { sum: 200, by: 'boss:ada' } });
  });

  test('the inbox: amend in the form, and approve the result', async () => {
    const server = await serve();
    await waiting(server, 'a');
    const page = await open(server, 'boss:ada', '/inbox');
    await page.getByRole('button', { name: /^pay/ }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await page.keyboard.press('e');
    const amount = page.getByRole('textbox', { name: 'amount' });
    await amount.waitFor();
    await tabTo(page, amount);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('150');
    await tabTo(page, page.getByRole('button', { name: /^Approve amended/ }));
    await page.keyboard.press('Enter');
    await expect.poll(() => sums(server)).toEqual({ a: { sum: 150, by: 'boss:ada' } });
  });

  test('the inbox: mark some, and decide them with one reason', async () => {
    const server = await serve();
    await waiting(server, 'a', 'b', 'c');
    const page = await open(server, 'boss:ada', '/inbox');
    await page.getByRole('button', { name: /^pay/ }).first().waitFor();
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    // One form at a time: the open proposal's, or that of all marked.
    await page.getByRole('button', { name: 'Decide the 2 marked' }).waitFor();
    expect(await page.getByLabel('Reason for all').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByLabel('Reason for all').waitFor();
    await tabTo(page, page.getByLabel('Reason for all'));
    await page.keyboard.type('due today');
    await tabTo(page, page.getByRole('button', { name: 'Approve 2' }));
    await page.keyboard.press('Enter');
    await expect.poll(async () => Object.keys(await sums(server)).length).toBe(2);
    await page.getByText('2 approved').waitFor();
  });

  test('a dialog takes the focus, keeps it, and gives it back', async () => {
    const server = await serve();
    const page = await open(server, 'admin:ann', '/agents/main');
    const halt = page.getByRole('button', { name: /^Halt/ });
    await halt.waitFor();
    await tabTo(page, halt);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await showIn(page, colorScheme);
      await expectAccessible(page);
    }
    for (let n = 0; n < 8; n += 1) {
      await page.keyboard.press('Tab');
      expect(await dialog.evaluate((one) => one.contains(one.ownerDocument.activeElement))).toBe(
        true,
      );
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.locator('button:focus').and(halt).waitFor();
    expect((await succeed(server, 'trajectories.get', { path: MAIN })).halted).toBe(null);
  });
});
