/** The pages of effects and of agents, in a real Chromium. */
import { expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { expectFitting } from '../support/console/page-checks.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';
import { SILENT_CENTS, till } from '../support/server/till.ts';

const MAIN = { trajectory: 'main' };

/** A payment at the bank. Without an answer its outcome is unknown. */
async function wire(server: TestServer, cents: number, key: string): Promise<void> {
  const call = pay('w', 1, key);
  const body = { ...(call.body as object), action: 'wire', args: { cents } };
  const answer = await server.ask('POST', '/v1/trajectories/main/proposals', {
    token: server.tokens['agent:scout'],
    key,
    body,
  });
  expect(answer.status, answer.text).toBeLessThan(300);
}

withConsole(({ serve, open }) => {
  test('an effect in doubt is found, and decided by a principal with the right', async () => {
    const server = await serve();
    await wire(server, SILENT_CENTS, 'silent');
    const page = await open(server, 'boss:ada', '/effects?show=doubt');
    await page
      .getByRole('button', { name: new RegExp(`bank.pay: cents ${SILENT_CENTS}.* ago.*scout`) })
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Resources by epoch' }).click();
    const lanes = page.getByRole('table');
    await lanes.getByRole('columnheader', { name: 'Frontier' }).waitFor();
    await expectAccessible(page);
    await lanes.getByRole('link', { name: /Epoch \d+: in doubt/ }).click();
    await page
      .getByRole('heading', { name: /bank\.pay/ })
      .first()
      .waitFor();
    expect(page.url()).toMatch(/\/effects\/\d+/);
    await page
      .getByText(/in doubt/)
      .first()
      .waitFor();
    await page.getByRole('region', { name: /Input/ }).getByText(`${SILENT_CENTS}`).waitFor();
    await page.getByText(/key that the other system has: [0-9a-f]{64}/).waitFor();
    await page.getByRole('button', { name: 'Copy', exact: true }).waitFor();
    for (const scheme of ['light', 'dark'] as const)
      await expectAccessible(
        await open(server, 'boss:ada', new URL(page.url()).pathname, { scheme }),
      );
    // In this domain no counselor decides about effects.
    await page.getByText('A counselor of the kind operator or an admin decides about it').waitFor();
    expect(await page.getByLabel('It happened').count()).toBe(0);
    expect(await page.getByRole('link', { name: /Effects .* waiting/ }).count()).toBe(0);
    const admin = await open(server, 'admin:ann', new URL(page.url()).pathname);
    await admin.getByRole('link', { name: 'Effects 1 waiting' }).waitFor();
    await admin.getByLabel('It happened').check();
    await admin.getByLabel('Reason').fill('the bank has it');
    await admin.getByRole('button', { name: 'Record the decision' }).click();
    await admin.getByText('Recorded: applied').waitFor();
    await admin.getByText('permanent').first().waitFor();
    expect(
      (await succeed(server, 'effects.list', { query: { needs_human: 'true' } })).transactions,
    ).toEqual([]);
  });

  test('after a call that did not happen the page says what the state has', async () => {
    const server = await serve();
    await wire(server, SILENT_CENTS, 'silent');
    const page = await open(server, 'admin:ann', '/effects?show=doubt');
    await page.getByRole('button', { name: /bank.pay/ }).click();
    await page.getByLabel('It did not happen').check();
    await page.getByLabel('Reason').fill('the bank has nothing');
    await page.getByRole('button', { name: 'Record the decision' }).click();
    const left = page.getByRole('status').filter({ hasText: 'The ledger still says' });
    await left.getByText(/\/desks\/w/).waitFor();
    await left.getByRole('link', { name: /entry/ }).waitFor();
    await expectAccessible(page);
    await left.getByRole('link', { name: 'Open the correction as a proposal' }).click();
    await page.getByText('Would be committed').waitFor();
    await page.getByRole('button', { name: 'Copy the proposal' }).waitFor();
    expect(await page.getByLabel('desk of the role clerk').inputValue()).toBe('w');
    expect(await page.getByRole('button', { name: 'Propose it' }).count()).toBe(0);
    await expectAccessible(page);
  });

  test('a transaction without doubt is permanent, and an auditor decides nothing', async () => {
    const server = await serve();
    await wire(server, 20, 'plain');
    const page = await open(server, 'auditor:eve', '/effects');
    await page.getByText('permanent').first().waitFor();
    await page.keyboard.press('j');
    await page.getByText('permanent').nth(1).waitFor();
    expect(await page.getByRole('button', { name: /Record/ }).count()).toBe(0);
  });

  test('a writ is revoked with a reason, and its agent proposes no more', async () => {
    const server = await serve();
    await succeed(server, 'proposals.create', pay('a', 1, 'k'));
    const page = await open(server, 'admin:ann', '/agents/main');
    await page.getByText('agent:scout').first().waitFor();
    await expectAccessible(page);
    await page
      .getByRole('button', { name: /Revoke/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/Reason/).fill('left the team');
    await dialog.getByRole('button', { name: /Revoke/ }).click();
    await page.getByText('revoked').first().waitFor();
    const after = await server.ask('POST', '/v1/trajectories/main/proposals', {
      token: server.tokens['agent:scout'],
      key: 'after',
      body: pay('a', 1, 'after').body,
    });
    expect(after.body).toMatchObject({ ruling: 'rejected', reason: 'invalid_authority' });
  });

  test('an agent is stopped everywhere, and the page proves it', async () => {
    const server = await serve();
    await succeed(server, 'proposals.create', pay('a', 1, 'k'));
    await succeed(server, 'proposals.create', pay('b', 200, 'k2'));
    await succeed(server, 'proposals.create', pay('c', 2_000, 'k3'));
    const page = await open(server, 'admin:ann', '/agents');
    const row = page.getByRole('button', { name: /agent:scout/ });
    await row.getByText('1 world · 1 waiting · 1 refused in 24 hours').waitFor();
    await expectAccessible(page);
    await row.click();
    await page.getByRole('cell', { name: 'no budget' }).waitFor();
    await page.getByRole('button', { name: 'Stop everywhere' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Proposals of it that wait: 1. They can then only be').waitFor();
    await dialog.getByLabel(/Reason/).fill('it pays twice');
    await dialog.getByRole('button', { name: 'Stop everywhere' }).click();
    await page.getByText('Its next proposal would be refused').waitFor();
    await page.getByText('Revoked by the stop:').waitFor();
    await expectAccessible(page);
    const after = await server.ask('POST', '/v1/trajectories/main/proposals', {
      token: server.tokens['agent:scout'],
      key: 'after',
      body: pay('a', 1, 'after').body,
    });
    expect(after.status).toBeGreaterThanOrEqual(400);
    const small = await open(server, 'admin:ann', '/agents?agent=agent:scout', { width: 390 });
    await small.getByText('Its next proposal would be refused').waitFor();
    await expectFitting(small);
  });

  test('an approver rejects what a stopped agent asked, and brings it back', async () => {
    const server = await serve();
    await succeed(server, 'proposals.create', pay('b', 200, 'k2'));
    const agent = { path: { agent: 'agent:scout' }, body: { reason: 'it pays twice' } };
    await succeed(server, 'agents.stop', agent);
    const inbox = await open(server, 'boss:ada', '/inbox');
    await inbox.getByText('Stopped').waitFor();
    await inbox.getByRole('button', { name: /pay/ }).click();
    await inbox.getByText('Its agent is stopped: it can only be rejected.').waitFor();
    expect(await inbox.getByRole('button', { name: /^Approve/ }).isDisabled()).toBe(true);
    expect(await inbox.getByRole('button', { name: /^Reject/ }).isEnabled()).toBe(true);
    await expectAccessible(inbox);
    const page = await open(server, 'admin:ann', '/agents?agent=agent:scout');
    await page.getByRole('button', { name: 'Resume' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/Reason/).fill('it is mended');
    await dialog.getByRole('button', { name: 'Resume' }).click();
    const asked = page.getByRole('link', { name: 'A resume' });
    await asked.waitFor();
    expect(await page.getByRole('button', { name: /Resume/ }).count()).toBe(0);
    await expectAccessible(page);
    const href = (await asked.getAttribute('href')) ?? '';
    const decides = await open(server, 'boss:ada', href.slice(href.indexOf('/inbox')));
    await decides.getByRole('heading', { name: 'Let an agent act again' }).waitFor();
    await decides.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText('It has no token: create one with').waitFor();
    await page.getByText('It acts again.').waitFor();
    expect(await page.getByText('Revoked by the stop:').count()).toBe(0);
    await expectAccessible(page);
  });

  test('a trajectory is halted and resumed', async () => {
    const server = await serve();
    const page = await open(server, 'admin:ann', '/agents/main');
    for (const [does, halted] of [
      ['Halt', true],
      ['Resume', false],
    ] as const) {
      await page.getByRole('button', { name: new RegExp(does) }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(/Reason/).fill('a drill');
      await dialog.getByRole('button', { name: new RegExp(does) }).click();
      await expect
        .poll(
          async () => (await succeed(server, 'trajectories.get', { path: MAIN })).halted !== null,
        )
        .toBe(halted);
      const { trajectories } = await succeed(server, 'trajectories.list', {
        query: { halted: 'true' },
      });
      expect(trajectories.map((one: any) => one.trajectory_id)).toEqual(halted ? ['main'] : []);
      await dialog.waitFor({ state: 'hidden' });
      await page
        .getByRole('button', { name: /^main/ })
        .filter({ [halted ? 'hasText' : 'hasNotText']: 'Halted' })
        .waitFor();
    }
  });

  test('a counselor sees agents and no button of an administrator', async () => {
    const server = await serve();
    await succeed(server, 'proposals.create', pay('a', 1, 'k'));
    const page = await open(server, 'boss:ada', '/agents/main', { scheme: 'dark' });
    await page.getByText('agent:scout').first().waitFor();
    expect(await page.getByRole('button', { name: /Revoke|Halt/ }).count()).toBe(0);
    await expectAccessible(page);
  });

  test.each(['agents', 'timeline', 'what-if'])(
    'a name with a colon is found by its address: %s',
    async (name) => {
      const server = await serve();
      const trajectory = 'run:1.a-b_c';
      await server.service.assize.create(till, { trajectoryId: trajectory });
      const page = await open(server, 'auditor:eve', `/${name}/${encodeURIComponent(trajectory)}`);
      const chosen = page
        .getByRole('heading', { name: trajectory })
        .or(page.locator(`input[value^="${trajectory}"]`));
      await chosen.first().waitFor();
    },
  );
});
