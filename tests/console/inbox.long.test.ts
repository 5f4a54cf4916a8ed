/** The inbox of the console, in a real Chromium. */

import { MemoryStore } from '@assize/testing/memory';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

const MAIN = { trajectory: 'main' };

let keys = 0;

/** A payment that waits for the boss. Returns the id of its approval. */
async function waiting(server: TestServer, desk: string, amount = 200): Promise<string> {
  const body = { action: 'pay', role: { name: 'clerk', params: { desk } }, args: { amount } };
  const answer = await server.ask('POST', '/v1/trajectories/main/proposals', {
    token: server.tokens['agent:scout'],
    key: `k${keys++}`,
    body,
  });
  expect(answer.body.ruling, answer.text).toBe('escalated');
  return answer.body.approval_id;
}

async function sums(
  server: TestServer,
): Promise<Record<string, { readonly sum: number; readonly by?: string }>> {
  return (await succeed(server, 'trajectories.state', { path: MAIN })).state.desks;
}

withConsole(({ blank, serve, open }) => {
  test('a proposal appears immediately, and the keyboard alone approves it', async () => {
    const server = await serve();
    const page = await open(server, 'boss:ada', '/inbox');
    await page.getByText('Nothing waits').waitFor();
    await waiting(server, 'a');
    await page.getByRole('button', { name: /pay/ }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'pay' }).waitFor();
    await page.getByLabel('Proposal', { exact: true }).getByText('more than 100').waitFor();
    expect(page.url()).toMatch(/\/inbox\/[0-9a-f]{64}$/);
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits').waitFor();
    expect(await sums(server)).toEqual({ a: { sum: 200, by: 'boss:ada' } });
  });

  test('a rejection needs a reason, and the ledger records it', async () => {
    const server = await serve();
    const id = await waiting(server, 'a');
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.getByRole('button', { name: /^Reject/ }).click();
    await page.locator('input:focus').and(page.getByLabel('Reason')).waitFor();
    await page.getByText('Write a reason: a rejection needs one.').waitFor();
    await page.keyboard.type('  ');
    expect(await page.getByText('Write a reason').count()).toBe(0);
    await page.getByRole('button', { name: /^Reject/ }).click();
    await page.getByText('Write a reason: a rejection needs one.').waitFor();
    await expectAccessible(page);
    expect((await succeed(server, 'approvals.get', { path: { approval: id } })).status).toBe(
      'pending',
    );
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('too much');
    await page.getByRole('button', { name: /^Reject/ }).click();
    await page
      .getByText('This proposal is decided: rejected')
      .or(page.getByText('Nothing waits'))
      .first()
      .waitFor();
    const { ruling } = await succeed(server, 'approvals.get', { path: { approval: id } });
    const entry = await succeed(server, 'entries.get', { path: { entry: ruling.entry_id } });
    expect(JSON.stringify(entry)).toContain('too much');
    const timeline = await open(server, 'boss:ada', '/timeline/main');
    const row = timeline.getByRole('link', { name: /Rejected/ });
    await row.getByText('as clerk (a), rejected by boss:ada: too much').waitFor();
    expect(await row.textContent()).not.toContain('LARGE');
  });

  test('an amended proposal commits with the other arguments', async () => {
    const server = await serve();
    const id = await waiting(server, 'a', 400);
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.getByRole('heading', { name: 'pay' }).waitFor();
    await page.keyboard.press('e');
    await page.getByText('JSON', { exact: true }).click();
    const args = page.getByRole('textbox', { name: 'JSON' });
    await args.fill('{ "amount": ');
    await page.getByText('This is not JSON.').waitFor();
    expect(await page.getByRole('button', { name: /Approve/ }).isDisabled()).toBe(true);
    await args.fill('{ "amount": 300 }');
    await page.getByRole('button', { name: /Approve amended/ }).click();
    await expect.poll(() => sums(server)).toEqual({ a: { sum: 300, by: 'boss:ada' } });
  });

  test('rules that the result breaks are shown before an override', async () => {
    const server = await serve();
    const id = await waiting(server, 'a', 400);
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.getByRole('heading', { name: 'pay' }).waitFor();
    await page.keyboard.press('e');
    await page.getByRole('textbox', { name: 'amount' }).fill('2000');
    const broken = page.getByRole('table', { name: 'Rules that the result breaks' });
    await broken.getByText('LARGE').waitFor();
    await broken.getByText('more than 1,000').waitFor();
    await expectAccessible(page);
    expect(await sums(server)).toEqual({});
    await page.getByLabel('Override the rules that this breaks').check();
    const told = page.getByRole('status', { name: 'Judgement' });
    await told.getByText('Would be approved as amended against rule LARGE').waitFor();
    expect(await told.textContent()).not.toContain('✓');
    const approve = page.getByRole('button', { name: /^Override and approve/ });
    await approve.click();
    await page.getByText('Write a reason: an override needs one.').waitFor();
    expect(await sums(server)).toEqual({});
    await page.getByLabel('Reason').fill('paid by hand');
    await approve.click();
    await page.getByText('Decided: committed, with an override of LARGE').waitFor();
    expect(await sums(server)).toMatchObject({ a: { sum: 2_000 } });
    const timeline = await open(server, 'boss:ada', '/timeline/main?text=override');
    await timeline.getByRole('link', { name: /overrides LARGE/ }).waitFor();
    await expectAccessible(timeline);
  });

  test('an override that nothing needs any more is not recorded', async () => {
    const server = await serve();
    const id = await waiting(server, 'a', 400);
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.getByRole('button', { name: /^Amend/ }).click();
    await page.getByRole('textbox', { name: 'amount' }).fill('2000');
    await page.getByLabel('Override the rules that this breaks').check();
    await page.getByText('against rule LARGE').waitFor();
    await page.getByRole('textbox', { name: 'amount' }).fill('300');
    await page.getByRole('button', { name: /^Approve amended/ }).click();
    await page.getByText('Nothing waits').waitFor();
    expect(await sums(server)).toEqual({ a: { sum: 300, by: 'boss:ada' } });
  });

  test('a second key `a` after a decision approves nothing', async () => {
    const server = await serve();
    for (const desk of ['a', 'b', 'c']) await waiting(server, desk);
    const page = await open(server, 'boss:ada', '/inbox');
    await page.getByRole('button', { name: /pay/ }).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    const second = page.url();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.getByText('Choose a proposal').waitFor();
    await page.keyboard.press('a');
    await page.waitForTimeout(500);
    expect(page.url()).not.toContain(second);
    expect(Object.keys(await sums(server))).toHaveLength(1);
    const { approvals } = await succeed(server, 'approvals.list', { as: 'boss:ada' });
    await page.keyboard.press('j');
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    expect(page.url()).toContain(approvals[1].id);
  });

  test('a decision without an answer says so until the server is back', async () => {
    const store = new MemoryStore();
    const server = await serve({ store });
    const id = await waiting(server, 'a');
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.getByText('Live').waitFor();
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await server.stop();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    const alert = page
      .getByRole('alert')
      .getByText('Your decision was not confirmed; press again, it counts once.');
    await alert.waitFor();
    await serve({ store, server: { port: server.port } });
    await alert.waitFor({ state: 'hidden' });
    await page.getByText('Would be approved').waitFor();
    expect(await page.getByText('Failed to fetch').count()).toBe(0);
  });

  test('a decision of another person leaves the list, with its author', async () => {
    const server = await serve();
    const id = await waiting(server, 'a');
    const page = await open(server, 'boss:ada', '/inbox');
    await page.getByRole('button', { name: /pay/ }).waitFor();
    await page.getByText('Live').waitFor();
    const { digest } = (await succeed(server, 'approvals.get', { path: { approval: id } }))
      .approval;
    await succeed(server, 'approvals.approve', {
      as: 'boss:bob',
      path: { approval: id },
      body: { digest },
    });
    await page.getByText('pay: amount 200: committed by boss:bob').waitFor();
    await page.getByText('Nothing waits').waitFor();
  });

  test('of two people that decide together, the later one sees why it is late', async () => {
    const server = await serve();
    const id = await waiting(server, 'a');
    const pages = await Promise.all(
      ['boss:ada', 'boss:bob'].map((name) => open(server, name, `/inbox/${id}`)),
    );
    const [one, two] = pages as [Page, Page];
    for (const page of pages) await page.getByRole('button', { name: /^Approve/ }).waitFor();
    // The second page does not hear of the first decision in time.
    await two.route('**/v1/events*', (route) => route.abort());
    await two.route('**/v1/approvals/*', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await one.keyboard.press('a');
    await one.keyboard.press('Enter');
    await one.getByText('Nothing waits').waitFor();
    await two.getByRole('button', { name: /^Approve/ }).click();
    await two
      .getByRole('alert')
      .getByText(/no longer pending: it was approved by boss:ada/)
      .waitFor();
    expect(await sums(server)).toEqual({ a: { sum: 200, by: 'boss:ada' } });
  });

  test('of two approvals that are needed, the first one waits for the second', async () => {
    const rules = readRules(
      'id: two\nrules:\n  - { id: both, ask: bank/pay, approvals: 2 }\n',
    ).rules;
    const principals = {
      'agent:scout': { kinds: ['agent'], grants: [{ actions: ['**'], scopes: ['**'] }] },
      'human:ada': { kinds: ['counselor'] },
      'human:bob': { kinds: ['counselor'] },
    };
    const domains = [gateway({ rules }) as unknown as Domain];
    const config = { tools: [], worlds: { calls: { domain: 'gateway' } } };
    const server = await serve({ rules, domains, config, principals: principals as never });
    const answer = await server.ask('POST', '/v1/trajectories/calls/proposals', {
      token: await server.tokenFor('agent:scout'),
      key: 'k',
      body: {
        action: 'call',
        role: { name: 'agent', params: { agent: 'scout' } },
        args: { id: 'c', server: 'bank', tool: 'pay', args: { cents: 5 } },
      },
    });
    const path = `/inbox/${answer.body.approval_id}`;
    const ada = await open(server, 'human:ada', path);
    await ada.getByText('0 of 2').first().waitFor();
    await ada.getByRole('button', { name: /^Approve/ }).waitFor();
    await ada.keyboard.press('a');
    await ada.keyboard.press('Enter');
    await ada.getByText('Approved. Another approval is needed.').waitFor();
    const bob = await open(server, 'human:bob', '/inbox');
    await bob.getByText('1 of 2').first().waitFor();
    await bob.getByRole('button', { name: /bank\/pay/ }).click();
    await bob.getByRole('button', { name: /^Approve/ }).click();
    await bob.getByText('Nothing waits').waitFor();
  });

  test('a call of an agent program is shown as it will be made, with its parts', async () => {
    const { rules } = readRules('{ id: ask, default: ask }');
    const principals = {
      'agent:claude': {
        kinds: ['agent'],
        grants: [{ actions: ['call', 'begin', 'report', 'session'] }],
      },
      'human:ada': { kinds: ['counselor'] },
    };
    const domains = [gateway({ rules }) as unknown as Domain];
    const config = { tools: [], worlds: { calls: { domain: 'gateway' } } };
    const server = await serve({ rules, domains, config, principals: principals as never });
    const page = await open(server, 'human:ada', '/inbox');
    const command = 'git push && echo \u202e<b>x</b>';
    const event = {
      hook_event_name: 'PreToolUse',
      session_id: 's',
      cwd: '/repo',
      tool_use_id: 't',
    };
    await server.ask('POST', '/v1/trajectories/calls/hooks/claude-code?wait=0', {
      token: await server.tokenFor('agent:claude'),
      body: {
        ...event,
        tool_name: 'Bash',
        tool_input: { command: 'git push && rm -r build', description: command },
      },
    });
    await page.getByRole('button', { name: /claude-code\/Bash/ }).click();
    await page.getByRole('heading', { name: 'The agent makes this call, once' }).waitFor();
    expect(await page.getByLabel('Input of Bash').innerText()).toContain(
      '"git push && rm -r build"',
    );
    expect(await page.getByLabel('Input of Bash').innerText()).toContain('\\u202e<b>x</b>');
    expect(
      await page.getByLabel('Parts of the call').getByRole('listitem').allInnerTexts(),
    ).toEqual(['shell/git push', 'shell/rm -r build']);
    expect(await page.getByText('No tool is called').count()).toBe(0);
    await expectAccessible(page);
  });

  test('a server that stops and starts again finds the page where it was', async () => {
    const store = new MemoryStore();
    const server = await serve({ store });
    const id = await waiting(server, 'a');
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.getByText('Live').waitFor();
    await server.stop();
    await page.getByText('Offline').waitFor();
    await page.getByRole('heading', { name: 'pay' }).waitFor();
    const again = await serve({ store, server: { port: server.port } });
    await page.getByText('Live').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits').waitFor();
    expect(await sums(again)).toEqual({ a: { sum: 200, by: 'boss:ada' } });
  });

  test('100 like proposals are decided with one reason', async () => {
    const server = await serve();
    for (let n = 0; n < 100; n += 1) await waiting(server, `desk${n}`);
    const page = await open(server, 'boss:ada', '/inbox');
    await page.getByText('100 of pay, LARGE').waitFor();
    await page.getByText('as clerk (desk: desk0)').waitFor();
    await page.getByLabel('Mark all 100 of pay, LARGE').check();
    await page.getByText('100 marked').waitFor();
    await page.getByLabel('Reason for all').fill('the day’s payments');
    await page.getByRole('button', { name: 'Approve 100' }).click();
    await page.getByText('Nothing waits').waitFor();
    expect(Object.values(await sums(server))).toEqual(
      Array.from({ length: 100 }, () => ({ sum: 200, by: 'boss:ada' })),
    );
  });

  test('a person without the right sees who has it', async () => {
    const server = await serve();
    const id = await waiting(server, 'a');
    const page = await open(server, 'auditor:eve', `/inbox/${id}`);
    await page.getByText('You may not decide this').waitFor();
    await page.getByText(/It is for boss:ada, boss:bob/).waitFor();
    expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    expect((await succeed(server, 'approvals.get', { path: { approval: id } })).status).toBe(
      'pending',
    );
  });

  test('a text of an agent is not markup, and its unseen characters show', async () => {
    const server = await serve();
    const evil = '<img src=x onerror=alert(1)>\u202e\u200b\u001b[31m';
    const id = await waiting(server, evil);
    const page = await open(server, 'boss:ada', `/inbox/${id}`);
    await page.getByText('\\u202e').first().waitFor();
    await page.getByText('\\u001b').first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
    const text = (await page.locator('body').textContent()) ?? '';
    for (const unseen of ['\u202e', '\u200b', '\u001b']) expect(text).not.toContain(unseen);
  });

  test.each(['light', 'dark'] as const)(
    'no rule of accessibility is broken: %s',
    async (scheme) => {
      const server = await serve();
      const id = await waiting(server, 'a');
      await waiting(server, 'b');
      for (const width of [1280, 360]) {
        const page = await open(server, 'boss:ada', '/inbox', { scheme, width });
        await page.getByRole('button', { name: /pay/ }).first().waitFor();
        await expectAccessible(page);
        const detail = await open(server, 'boss:ada', `/inbox/${id}`, { scheme, width });
        await detail.getByRole('heading', { name: 'pay' }).waitFor();
        await expectAccessible(detail);
        expect(await detail.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          width,
        );
      }
    },
  );

  test('a signed-out browser says how to sign in', async () => {
    const server = await serve();
    const page = await open(server, 'nobody', '/inbox');
    await page.getByText('You are not signed in').waitFor();
    await page.getByText('assize token sign-in NAME').waitFor();
    await expectAccessible(page);
  });

  test('a sign-in goes to the page that the tab had asked for', async () => {
    const server = await serve();
    const page = await blank();
    await page.goto(`${server.url}/timeline/main?view=writs`);
    await page.getByText('You are not signed in').waitFor();
    const [name = '', value = ''] = (await server.cookieFor('boss:ada')).split('=');
    await page
      .context()
      .addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: 'Lax' }]);
    // The page of a link, and the provider, end at the start.
    await page.goto(server.url);
    await page.waitForURL(/\/timeline\/main\?view=writs$/);
    await page.goto(server.url);
    await page.waitForURL(/\/needs$/);
  });
});
