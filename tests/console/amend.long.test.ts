/** Amending a proposal by its form in the inbox, in a real Chromium. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

/** A payment of 400 that waits for the boss. Returns the id of its approval. */
async function waiting(server: TestServer): Promise<string> {
  const body = {
    action: 'pay',
    role: { name: 'clerk', params: { desk: 'a' } },
    args: { amount: 400 },
  };
  const token = server.tokens['agent:scout'];
  const answer = await server.ask('POST', '/v1/trajectories/main/proposals', {
    token,
    key: 'k',
    body,
  });
  expect(answer.body.ruling, answer.text).toBe('escalated');
  return answer.body.approval_id;
}

/** Moves the focus forward until it is on that field or button. */
async function tabTo(page: Page, role: 'textbox' | 'button', name: RegExp): Promise<void> {
  const wanted = page.getByRole(role, { name });
  for (let presses = 0; presses < 60; presses++) {
    if ((await wanted.and(page.locator(':focus')).count()) === 1) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${name}`);
}

withConsole(({ serve, open }) => {
  test('an agent proposes, a manager amends by keyboard, the ledger has both', async () => {
    const server = await serve();
    const id = await waiting(server);
    const page = await open(server, 'boss:ada', '/inbox');
    await page.getByRole('button', { name: /pay/ }).waitFor();
    const told = page.getByRole('status', { name: 'Judgement' });
    await page.keyboard.press('j');
    await told.getByText('Would be approved').waitFor();
    await page.keyboard.press('e');
    expect(page.url()).toContain('amend=form');
    await page.getByRole('textbox', { name: 'amount' }).waitFor();
    await expectAccessible(page);

    await tabTo(page, 'textbox', /amount/);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('much');
    await told.getByText('The arguments do not fit').waitFor();
    await page
      .getByText(/invalid|must|expected/i)
      .first()
      .waitFor();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('2000');
    await told.getByText('Breaks rule LARGE').waitFor();
    await page.getByRole('table', { name: 'Rules that the result breaks' }).waitFor();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('300');
    await told.getByText('Would be approved as amended').waitFor();
    await page.getByRole('heading', { name: 'Changes of the state, as amended' }).waitFor();
    await page.getByRole('cell', { name: '300' }).first().waitFor();
    expect((await succeed(server, 'approvals.get', { path: { approval: id } })).status).toBe(
      'pending',
    );

    await tabTo(page, 'button', /^Approve amended/);
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits').waitFor();
    const { ruling } = await succeed(server, 'approvals.get', { path: { approval: id } });
    const { payload } = await succeed(server, 'entries.get', { path: { entry: ruling.entry_id } });
    expect(payload).toMatchObject({
      action: { name: 'pay', args: { amount: 300 } },
      amended: { action: { args: { amount: 400 } } },
      counselor: { principal: 'boss:ada' },
    });
    const entry = await open(server, 'boss:ada', `/timeline/main/${ruling.seq}`);
    await entry.getByText('The approver amended the arguments. They were:').waitFor();
    await entry.getByText('"amount": 300').first().waitFor();
    await entry.getByText('"amount": 400').first().waitFor();
  });

  test('judging writes nothing, and the last input counts', async () => {
    const server = await serve();
    const id = await waiting(server);
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.getByRole('button', { name: /^Amend/ }).click();
    const amount = page.getByRole('textbox', { name: 'amount' });
    const told = page.getByRole('status', { name: 'Judgement' });
    await told.getByText('Would be approved').waitFor();
    const before = await server.contents();
    // The answer about the first input comes after the answer about the last one.
    let isFirst = true;
    await page.route('**/v1/approvals/*/judge', async (route) => {
      const isHeld = isFirst;
      isFirst = false;
      if (isHeld) await new Promise((resolve) => setTimeout(resolve, 1_500));
      await route.continue().catch(() => undefined);
    });
    await amount.fill('2000');
    await page.waitForTimeout(400);
    await amount.fill('150');
    await told.getByText('Would be approved as amended').waitFor();
    await page.waitForTimeout(1_600);
    expect(await told.textContent()).toContain('Would be approved as amended');
    await amount.fill('400');
    await page.getByRole('button', { name: /^Approve a$/ }).waitFor();
    expect(await server.contents()).toEqual(before);
  });

  test('text that is not JSON is not judged, and shows no older ruling', async () => {
    const server = await serve();
    const id = await waiting(server);
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    const told = page.getByRole('status', { name: 'Judgement' });
    await told.getByText('Would be approved').waitFor();
    await page.keyboard.press('e');
    await page.getByText('JSON', { exact: true }).click();
    await page.getByRole('textbox', { name: 'JSON' }).fill('[1');
    await told.getByText('Not judged').waitFor();
    expect(await told.textContent()).toBe('!Not judged: this is not JSON');
  });

  test('after a reload the form is closed, as its draft is lost', async () => {
    const server = await serve();
    const id = await waiting(server);
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.getByRole('button', { name: /^Amend/ }).click();
    await page.getByRole('textbox', { name: 'amount' }).fill('300');
    await page.getByRole('button', { name: /^Approve amended/ }).waitFor();
    expect(page.url()).toContain('amend=form');
    await page.reload();
    await page.getByRole('button', { name: /^Approve a$/ }).waitFor();
    await expect.poll(() => page.url()).not.toContain('amend');
    expect(await page.getByRole('textbox', { name: 'amount' }).count()).toBe(0);
  });

  test.each(['light', 'dark'] as const)(
    'the form breaks no rule of accessibility: %s',
    async (scheme) => {
      const server = await serve();
      const id = await waiting(server);
      for (const width of [1280, 820, 360]) {
        const page = await open(server, 'boss:ada', `/inbox/${id}`, { scheme, width });
        await page.getByRole('button', { name: /^Amend/ }).click();
        await page.getByRole('textbox', { name: 'amount' }).fill('2000');
        await page.getByText('Breaks rule LARGE').waitFor();
        await expectAccessible(page);
        await page.getByLabel('Override the rules that this breaks').check();
        await page.getByText('against rule LARGE').waitFor();
        await page.getByRole('button', { name: /^Override and approve/ }).click();
        await page.getByText('Write a reason: an override needs one.').waitFor();
        await expectAccessible(page);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          width,
        );
      }
    },
  );
});
