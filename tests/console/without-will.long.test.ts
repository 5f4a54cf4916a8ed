/** The console sends nothing later, leads nowhere, and heeds no key that is pressed elsewhere. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { withConsole } from '../support/console/browser.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

const OFFLINE = 'You are offline. Nothing was sent.';
const MAIN = { trajectory: 'main' };

/** Proposals that wait for the boss. Returns the ids of their approvals. */
async function waiting(
  server: TestServer,
  ...desks: readonly string[]
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const desk of desks) {
    const { approval_id } = await succeed(server, 'proposals.create', pay(desk, 200, `k${desk}`));
    ids.push(approval_id);
  }
  return ids;
}

async function statusOf(server: TestServer, approval: string | undefined): Promise<string> {
  return (await succeed(server, 'approvals.get', { path: { approval: approval as string } }))
    .status;
}

/** The requests of a page that change something. */
function sentBy(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request) => {
    // Judging records nothing.
    if (request.method() !== 'GET' && !request.url().includes('judge')) sent.push(request.url());
  });
  return sent;
}

/** Long enough for a request that the page had kept back. */
async function comeOnline(page: Page): Promise<void> {
  await page.context().setOffline(false);
  await page.waitForTimeout(1_500);
}

withConsole(({ serve, open }) => {
  test('a decision without a network fails, keeps its text, and is never sent', async () => {
    const server = await serve();
    const [id] = await waiting(server, 'a');
    const page = await open(server, 'boss:ada', '/audit');
    await page.getByRole('link', { name: /^Inbox/ }).click();
    await page.getByRole('button', { name: /^pay/ }).click();
    await page.getByLabel('Reason').fill('the hotel wrote');
    const sent = sentBy(page);
    await page.context().setOffline(true);
    await page.getByText('Offline').waitFor();
    for (const name of [/^Approve/, /^Reject/]) {
      await page.getByRole('button', { name }).click();
      await page.getByRole('alert').getByText(OFFLINE).waitFor();
      expect(await page.getByLabel('Reason').inputValue()).toBe('the hotel wrote');
    }
    await page.getByRole('link', { name: 'Audit' }).click();
    await comeOnline(page);
    expect(new URL(page.url()).pathname).toBe('/audit');
    expect(sent).toEqual([]);
    expect(await statusOf(server, id)).toBe('pending');
  });

  test('no other change is kept back without a network', async () => {
    const server = await serve();
    const ids = await waiting(server, 'a', 'b');
    const inbox = await open(server, 'boss:ada', '/inbox');
    await inbox.getByLabel('Mark all 2 of pay').check();
    await inbox.getByLabel('Reason for all').fill('due');
    const halt = await open(server, 'admin:ann', '/agents/main');
    await halt.getByRole('button', { name: /^Halt/ }).click();
    await halt.getByRole('dialog').getByLabel('Reason').fill('they pay twice');
    const people = await open(server, 'admin:ann', '/agents?view=people');
    await people.getByRole('button', { name: /^End/ }).first().click();
    const writ = await open(server, 'admin:ann', '/agents/main');
    await writ
      .getByRole('button', { name: /^Revoke/ })
      .first()
      .click();
    await writ.getByRole('dialog').getByLabel('Reason').fill('it was seen');
    for (const [page, button] of [
      [inbox, inbox.getByRole('button', { name: 'Approve 2' })],
      [halt, halt.getByRole('dialog').getByRole('button', { name: /^Halt/ })],
      [people, people.getByRole('dialog').getByRole('button', { name: /^End/ })],
      [writ, writ.getByRole('dialog').getByRole('button', { name: /^Revoke/ })],
    ] as const) {
      const sent = sentBy(page);
      await page.context().setOffline(true);
      await button.click();
      await page.getByRole('alert').getByText(OFFLINE).waitFor();
      await comeOnline(page);
      expect(sent).toEqual([]);
    }
    expect(await inbox.getByLabel('Reason for all').inputValue()).toBe('due');
    for (const id of ids) expect(await statusOf(server, id)).toBe('pending');
    expect((await succeed(server, 'trajectories.get', { path: MAIN })).halted).toBe(null);
  });

  test('an answer that comes after the person has left leads nowhere', async () => {
    const server = await serve();
    const [first, second] = await waiting(server, 'a', 'b');
    const page = await open(server, 'boss:ada', `/inbox/${first}`);
    let answer: () => void = () => undefined;
    const isAsked = new Promise<void>((asked) => {
      void page.route('**/approve', async (route) => {
        const held = new Promise<void>((go) => (answer = go));
        asked();
        await held;
        await route.continue();
      });
    });
    await page.getByRole('button', { name: /^Approve/ }).click();
    await isAsked;
    await page
      .locator(`a[href*="${second}"], [data-id="${second}"]`)
      .or(page.locator('li button'))
      .last()
      .click();
    await page.waitForURL(`**/inbox/${second}`);
    answer();
    await page.getByText('Decided: committed').waitFor();
    await page.waitForTimeout(500);
    expect(new URL(page.url()).pathname).toBe(`/inbox/${second}`);
    expect(await statusOf(server, first)).toBe('resolved');
    expect(await statusOf(server, second)).toBe('pending');
  });

  test('a key decides only while the focus is in the list or in the proposal', async () => {
    const server = await serve();
    const [first, second] = await waiting(server, 'a', 'b');
    const page = await open(server, 'boss:ada', `/inbox/${first}`);
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    const sent = sentBy(page);
    const places = [
      page.getByRole('button', { name: /^Go to/ }),
      page.getByRole('link', { name: 'Activity' }),
      page.getByRole('link', { name: /^Inbox/ }),
    ];
    for (const place of places) {
      await place.focus();
      for (const key of ['a', 'r', 'e', 'x', 'j', 'k']) await page.keyboard.press(key);
    }
    await page.evaluate('document.activeElement.blur()');
    for (const key of ['a', 'r', 'j', 'Enter']) await page.keyboard.press(key);
    await page.waitForTimeout(500);
    expect(sent).toEqual([]);
    expect(new URL(page.url()).pathname).toBe(`/inbox/${first}`);
    expect(await page.getByText('marked').count()).toBe(0);
    await page.getByLabel('Proposal', { exact: true }).focus();
    await page.keyboard.press('a');
    await page.locator('button:focus', { hasText: 'Approve' }).waitFor();
    // Esc leaves the button, and the proposal stays.
    await page.keyboard.press('Escape');
    expect(await page.locator('button:focus').count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.waitForTimeout(300);
    expect(sent).toEqual([]);
    expect(new URL(page.url()).pathname).toBe(`/inbox/${first}`);
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.getByText('Decided: committed').waitFor();
    // The focus goes back to the list, where the keys go on.
    await page.keyboard.press('j');
    await page.waitForURL(`**/inbox/${second}`);
    expect(await statusOf(server, second)).toBe('pending');
  });

  test('Esc in the reason or an amendment disarms, leaves, and keeps the text', async () => {
    const server = await serve();
    const [first, second] = await waiting(server, 'a', 'b');
    const page = await open(server, 'boss:ada', `/inbox/${first}`);
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    const sent = sentBy(page);
    await page.keyboard.press('r');
    await page.getByText('Enter rejects').waitFor();
    await page.keyboard.type('not due');
    await page.keyboard.press('Escape');
    await page.getByText('Enter rejects').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Reason').inputValue()).toBe('not due');
    expect(await page.locator('input:focus').count()).toBe(0);
    await page.getByLabel('Reason').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await page.keyboard.press('e');
    await page
      .locator('input:focus')
      .and(page.getByRole('textbox', { name: 'amount' }))
      .waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('150');
    await page.keyboard.press('Escape');
    expect(await page.locator('input:focus').count()).toBe(0);
    expect(await page.getByRole('textbox', { name: 'amount' }).inputValue()).toBe('150');
    expect(await page.getByLabel('Reason').inputValue()).toBe('not due');
    for (const key of ['j', 'r', 'Escape', 'j', 'e', 'Enter']) await page.keyboard.press(key);
    await page.waitForTimeout(500);
    expect(sent).toEqual([]);
    for (const id of [first, second]) expect(await statusOf(server, id)).toBe('pending');
  });

  test('letters act no more after a person switched them off', async () => {
    const server = await serve();
    const [first] = await waiting(server, 'a', 'b');
    const page = await open(server, 'boss:ada', `/inbox/${first}`);
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: /single keys off/ }).click();
    await page.reload();
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await page.getByLabel('Proposal', { exact: true }).focus();
    for (const key of ['a', 'j', 'r']) await page.keyboard.press(key);
    expect(await page.locator('button:focus, input:focus').count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe(`/inbox/${first}`);
    await page.keyboard.press('Escape');
    await page.waitForURL('**/inbox');
  });

  test('a decision without an answer is given up, and can be looked up', async () => {
    const server = await serve();
    const [id] = await waiting(server, 'a');
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.route('**/approve', () => undefined);
    await page.getByLabel('Reason').fill('the hotel wrote');
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText(/No answer\. What you sent may count/).waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('the hotel wrote');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.unroute('**/approve');
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText('Decided: committed').waitFor();
  });

  test('a session that another person ends keeps the page and its text', async () => {
    const server = await serve();
    const [id] = await waiting(server, 'a');
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.getByLabel('Reason').fill('the hotel wrote');
    const { sessions } = await succeed(server, 'sessions.list', { as: 'admin:ann' });
    for (const { id: session } of sessions)
      await succeed(server, 'sessions.end', { as: 'admin:ann', path: { session } });
    const told = page.getByRole('dialog');
    await told.getByText(/The session was ended by admin:ann at \d{4}-/).waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('the hotel wrote');
    expect(await statusOf(server, id)).toBe('pending');
    const [name = '', value = ''] = (await server.cookieFor('boss:ada')).split('=');
    await page
      .context()
      .addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: 'Lax' }]);
    await told.getByRole('button', { name: 'I am signed in again' }).click();
    await told.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText('Decided: committed').waitFor();
  });
});
