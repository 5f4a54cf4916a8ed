/** Simulations in the console, in a real Chromium. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ruleTable } from '#authority';
import type { SimulatedAgent, SimulationConfig } from '#config';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { expectFitting } from '../support/console/page-checks.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

/** Pays until its desk holds the sum, in steps. */
function payer(step: number, sum: number): SimulatedAgent {
  return {
    name: 'agent:scout',
    role: { name: 'clerk', params: { desk: 'a' } },
    decide: async ({ desks }, oracle) => {
      const last = (await oracle.ruling())?.ruling;
      if (last === 'escalated') return 'wait';
      const isOver = last === 'rejected' || (desks?.a?.sum ?? 0) >= sum;
      return isOver ? 'done' : { action: 'pay', args: { amount: step } };
    },
  };
}

const small = ruleTable({
  id: 'small',
  otherwise: 'allow',
  rules: [
    { id: 'small-only', effect: 'deny', actions: ['pay'], because: 'Too <b>much\u202e</b>.' },
  ],
});

const payments: SimulationConfig = {
  description: 'Other ways to pay <b>20</b>.',
  domain: 'till',
  variants: [
    { name: 'same', agents: [payer(10, 20)] },
    { name: 'larger', agents: [payer(20, 20)] },
    { name: 'strict\u202e', agents: [payer(10, 20)], policy: small },
  ],
  limits: { samples: 3 },
};
const failing: SimulationConfig = {
  domain: 'till',
  variants: [
    {
      name: 'calls',
      agents: [{ ...payer(1, 1), decide: () => ({ action: 'wire', args: { cents: 9 } }) }],
    },
  ],
};
const silent: SimulationConfig = {
  domain: 'till',
  variants: [
    { name: 'silent', agents: [{ ...payer(1, 1), decide: () => new Promise(() => undefined) }] },
  ],
  limits: { seconds: 50 },
};
const starting = { config: { simulations: { payments, failing, silent } } };

/** Entries 1 and 2 pay 10 each. */
async function story(server: TestServer): Promise<void> {
  for (const key of ['k1', 'k2']) await succeed(server, 'proposals.create', pay('a', 10, key));
}

/** The answers to simulations, by the log of the server. */
function statusesOf({ lines }: TestServer): number[] {
  const requests = lines
    .map((line) => JSON.parse(line))
    .filter(({ route }) => route === 'simulations.run');
  return requests.map(({ status }) => status);
}

const run = (page: Page) => page.getByRole('button', { name: 'Run the simulation' }).click();

withConsole(({ serve, open }) => {
  test('from an entry of the timeline the variants stand side by side', async () => {
    const server = await serve(starting);
    await story(server);
    const page = await open(server, 'admin:ann', '/timeline/main/1');
    const before = await server.contents();
    await page.getByRole('link', { name: 'Simulate from here' }).click();
    expect(new URL(page.url()).search).toBe('?try=simulation&at=1');
    await page.getByRole('combobox', { name: 'Simulation' }).click();
    await page.getByRole('option', { name: 'payments' }).click();
    await page.getByText('Other ways to pay <b>20</b>.').waitFor();
    await run(page);
    await page.getByRole('heading', { name: '3 variants from entry 1' }).waitFor();
    const table = page.getByRole('region', { name: 'Side by side' });
    const row = (name: string) =>
      table.getByRole('row', { name: new RegExp(`^${name}`) }).getByRole('cell');
    expect(await row('Outcome').allTextContents()).toEqual(['', 'Done', 'Done', 'Done']);
    expect(await row('Committed').allTextContents()).toEqual(['1', '1', '1', '0']);
    expect(await row('small-only').allTextContents()).toEqual(['', '', '', '1 rejected']);
    await table.getByRole('columnheader', { name: 'strict\\u202e' }).waitFor();
    const parts = page.getByRole('region', { name: 'Where each parts from the record' });
    await parts
      .getByRole('article', { name: 'same' })
      .getByText('Has the rulings of the record.')
      .waitFor();
    const strict = parts.getByRole('article', { name: /strict/ });
    await strict.getByText('small-only').waitFor();
    await strict.getByText('Too <b>much\\u202e</b>.').waitFor();
    expect(await strict.getByRole('link', { name: 'Entry 2' }).getAttribute('href')).toBe(
      '/timeline/main/2',
    );
    const pairs = page.getByRole('region', { name: 'Where variants part from each other' });
    expect(await pairs.getByRole('link').allTextContents()).toEqual([
      'Entry 2',
      'Entry 2',
      'Entry 2',
    ]);
    expect(await server.contents()).toEqual(before);
    await page.keyboard.press('j');
    await page
      .locator('a:focus')
      .and(strict.page().getByRole('link', { name: 'Entry 2' }))
      .first()
      .waitFor();
  });

  test('a reload runs nothing, because a model can cost money', async () => {
    const server = await serve(starting);
    await story(server);
    const page = await open(
      server,
      'admin:ann',
      '/what-if/main?try=simulation&simulation=payments&samples=2',
    );
    await run(page);
    await page.getByText(/medians of 2 samples/).waitFor();
    await page
      .getByText('At ruling')
      .or(page.getByText(/At turn/))
      .first()
      .waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Run a simulation' }).waitFor();
    expect(await page.getByLabel('Samples').inputValue()).toBe('2');
  });

  test('a call without an answer is named, and a stop ends at the server', async () => {
    const server = await serve(starting);
    await story(server);
    const page = await open(server, 'admin:ann', '/what-if/main?try=simulation&simulation=failing');
    await run(page);
    await page
      .getByRole('alert')
      .getByText(/bank\.pay \{"cents":9\}/)
      .waitFor();
    await page.getByRole('combobox', { name: 'Simulation' }).click();
    await page.getByRole('option', { name: 'silent' }).click();
    await run(page);
    await expect.poll(() => server.service.simulations.running).toBe(1);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('heading', { name: 'Run a simulation' }).waitFor();
    await expect.poll(() => server.service.simulations.running).toBe(0);
    // The client has left. The time limit would be 422.
    await expect.poll(() => statusesOf(server)).toEqual([200, 408]);
  });

  test('an entry that does not exist, and a person who may not run one', async () => {
    const server = await serve(starting);
    await story(server);
    const page = await open(server, 'admin:ann', '/what-if/main?try=simulation&at=99');
    await page.getByText('The last entry is 2.').waitFor();
    expect(await page.getByRole('button', { name: 'Run the simulation' }).isDisabled()).toBe(true);
    const reader = await open(server, 'auditor:eve', '/what-if/main?try=simulation');
    await reader.getByText('An administrator runs a simulation.').waitFor();
    expect(await reader.getByRole('button', { name: 'Run the simulation' }).count()).toBe(0);
  });

  test('without a simulation the page says how to configure one', async () => {
    const server = await serve(starting);
    const page = await open(server, 'admin:ann', '/what-if/cash?try=simulation');
    await page.getByText('No simulation is configured for the domain budget').waitFor();
    const guide = page.getByRole('link', { name: 'How to configure a simulation' });
    expect(await guide.getAttribute('href')).toMatch(
      /\/docs\/guide\/backtest\.md#simulate-at-a-server$/,
    );
    await expectAccessible(page);
    await page.getByText('A rule table', { exact: true }).click();
    await page.getByRole('button', { name: 'Run the backtest' }).waitFor();
  });

  test.each(['light', 'dark'] as const)(
    'it fits, and breaks no rule of accessibility: %s',
    async (scheme) => {
      const server = await serve(starting);
      await story(server);
      const page = await open(
        server,
        'admin:ann',
        '/what-if/main?try=simulation&simulation=payments',
        { scheme },
      );
      await expectAccessible(page);
      await run(page);
      await page.getByRole('heading', { name: '3 variants from entry 0' }).waitFor();
      for (const width of [1280, 820, 360]) {
        await page.setViewportSize({ width, height: 800 });
        await expectFitting(page);
        await expectAccessible(page);
      }
    },
  );
});
