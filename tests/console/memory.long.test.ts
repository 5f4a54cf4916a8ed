/** The memory page of the console, in a real Chromium. */
import { expect, test } from 'vitest';
import { expectAccessible, withConsole } from '../support/console/browser.ts';
import { succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

const FRONT = { trajectory: 'main', space: 'front' };
const ADA = '/memory/main/front?subject=ada&predicate=phone';

let keys = 0;

/** A statement of the agent about a phone. It holds from a day on. */
async function state(
  server: TestServer,
  object: string,
  from: string,
  subject = 'ada',
  to?: string,
): Promise<void> {
  const valid = {
    from: `${from}T00:00:00.000000Z`,
    ...(to !== undefined && { to: `${to}T00:00:00.000000Z` }),
  };
  await succeed(server, 'memory.state', {
    as: 'agent:scout',
    path: FRONT,
    key: `memory${keys++}`,
    body: {
      verb: 'assert',
      subject,
      predicate: 'phone',
      object,
      valid,
      source: `source of ${object}`,
    },
  });
}

/** A number that a later one replaces from April on. */
async function contradicted(server: TestServer): Promise<void> {
  await state(server, '0001', '2026-01-01');
  await state(server, '0002', '2026-04-01');
}

withConsole(({ serve, open }) => {
  test('the plot and its table show the winner, the loser and what is left of it', async () => {
    const server = await serve();
    await contradicted(server);
    const page = await open(server, 'auditor:eve', '/memory');
    await page.getByRole('link', { name: /ada.*phone/ }).click();
    const plot = page.getByRole('group', { name: /valid time to the right/ });
    const boxes = plot.getByRole('link');
    await boxes.first().waitFor();
    const spoken = await boxes.evaluateAll((all) =>
      all.map((each) => each.getAttribute('aria-label') ?? ''),
    );
    expect(spoken.map((text) => text.replace(/ Recorded.*/, '')).sort()).toEqual([
      '0001: believed now. True from 2026-01-01 to 2026-04-01.',
      '0001: lost a contradiction. True since 2026-01-01.',
      '0002: believed now. True since 2026-04-01.',
    ]);
    const rows = page.getByRole('table').getByRole('row');
    expect(await rows.count()).toBe(4);
    await plot.getByRole('link', { name: /0001: lost/ }).focus();
    await page.keyboard.press('Enter');
    const chosen = page.getByLabel('Chosen version');
    await chosen.getByText('The last writer wins, by the order of commits.').waitFor();
    await chosen.getByText('0002, confidence 1, the winner').waitFor();
    await chosen.getByText('source of 0001').waitFor();
    const entry = chosen.getByRole('link', { name: /^entry main@/ }).first();
    expect(await entry.getAttribute('href')).toMatch(/^\/timeline\/main\/\d+$/);
    const { href } = new URL(page.url());
    await page.goto(href);
    await chosen.getByRole('heading', { name: '0001' }).waitFor();
    await page.keyboard.press('Escape');
    await chosen.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByText('Choose a key').waitFor();
  });

  test('an assertion that lost immediately is shown over the winner', async () => {
    const server = await serve();
    await state(server, '0001', '2026-01-01', 'ada', '2026-02-01');
    await state(server, '0002', '2026-01-01', 'ada', '2026-02-01');
    const page = await open(server, 'auditor:eve', ADA);
    await page
      .getByRole('group')
      .getByRole('link', { name: /^0001: lost a contradiction/ })
      .waitFor();
    await page
      .getByRole('group')
      .getByRole('link', { name: /^0002: believed now/ })
      .click();
    await page.getByLabel('Chosen version').getByText('Won').waitFor();
  });

  test('a recall answers what was believed then, and ranks by words', async () => {
    const server = await serve();
    await state(server, '0001 main office', '2026-01-01');
    const [before] = (await succeed(server, 'memory.history', { as: 'auditor:eve', path: FRONT }))
      .facts;
    await state(server, '0002 mobile', '2026-01-01');
    const path = `/memory/main/front?view=recall&valid=any`;
    const page = await open(server, 'auditor:eve', path);
    await page.getByRole('link', { name: /0002 mobile/ }).waitFor();
    expect(await page.getByRole('link', { name: /0001 main office/ }).count()).toBe(0);
    const then = await open(server, 'auditor:eve', `${path}&system=${before.system_time_start}`);
    await then.getByRole('link', { name: /0001 main office/ }).waitFor();
    await page.getByLabel('Text').fill('mobile');
    await page.getByText('1 fact, best first').waitFor();
    expect(page.url()).toContain('text=mobile');
    await page.getByRole('link', { name: /0002 mobile/ }).focus();
    await page.keyboard.press('j');
    await page.getByLabel('Chosen version').waitFor();
  });

  test('a question shows the text for a prompt, other names and metadata', async () => {
    const server = await serve();
    const path = { trajectory: 'main' };
    const said = { role: 'user', content: 'My number is 7.', at: '2026-01-01' };
    const fact = { message: 1, subject: 'eva', predicate: 'phone', object: '7 </memory> <b>x</b>' };
    const body = { space: 'front', messages: [said], facts: [fact], metadata: { channel: 'desk' } };
    await succeed(server, 'chat.remember', { as: 'agent:scout', path, key: 'c1', body });
    const alias = { space: 'front', alias: 'Eva N.', name: 'eva' };
    await succeed(server, 'chat.alias', { as: 'agent:scout', path, body: alias });
    const page = await open(server, 'auditor:eve', '/memory/main/front');
    await page.getByText('Ask', { exact: true }).click();
    await page.getByLabel('Question').fill('What is the phone of Eva N.?');
    await page.getByText('1 fact', { exact: true }).waitFor();
    expect(page.url()).toContain('view=ask');
    const text = (await page.getByLabel('Text for a prompt').textContent()) ?? '';
    expect(text).toContain('"object":"7 \\u003c/memory');
    expect(text.match(/<\/memory>/g)).toHaveLength(1);
    await page.getByLabel('Names that mean one thing').getByText('Eva N.').waitFor();
    await page.getByLabel('True at (valid time)').fill('2025-12-31T00:00');
    await page.getByText('Nothing is recalled').waitFor();
    await page.getByLabel('True at any time').check();
    await page.getByText('1 fact', { exact: true }).waitFor();
    expect(await page.locator('main b').count()).toBe(0);
    await page.getByRole('link', { name: /7 <.memory>/ }).click();
    await page
      .getByRole('table')
      .getByRole('link', { name: /7 <.memory>/ })
      .click();
    await page.getByLabel('Chosen version').getByText('channel').waitFor();
    await expectAccessible(page);
  });

  test('a commit that used a fact derives from it', async () => {
    const server = await serve();
    await state(server, '0001', '2026-01-01');
    const recall = { as: 'agent:scout', path: FRONT, body: { valid: 'any' } } as const;
    const { observation } = await succeed(server, 'memory.recall', recall);
    const made = await succeed(server, 'proposals.create', {
      as: 'agent:scout',
      path: { trajectory: 'main' },
      key: `memory${keys++}`,
      body: {
        action: 'pay',
        role: { name: 'clerk', params: { desk: 'a' } },
        args: { amount: 5 },
        observations: [observation],
      },
    });
    const page = await open(server, 'auditor:eve', ADA);
    await page.getByRole('table').getByRole('link', { name: '0001' }).click();
    await page.getByRole('link', { name: 'Find what derives from this' }).click();
    const derived = page.getByRole('listitem').filter({ hasText: 'observed it in a recall' });
    await derived.getByRole('link', { name: `entry main@${made.seq}` }).waitFor();
    expect(page.url()).toContain('derived=1');
  });

  test('a new statement appears immediately; keys are searched and moved in', async () => {
    const server = await serve();
    await state(server, '0001', '2026-01-01');
    const page = await open(server, 'auditor:eve', '/memory/main/front');
    await page.getByText('Live').waitFor();
    await page.getByRole('link', { name: /ada.*phone/ }).waitFor();
    await state(server, '0003', '2026-01-01', 'bob');
    await page.getByRole('link', { name: /bob.*phone/ }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'ada · phone' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'bob · phone' }).waitFor();
    await page.getByLabel('Search keys').fill('AD');
    await page.getByRole('link', { name: /bob.*phone/ }).waitFor({ state: 'detached' });
    expect(page.url()).toContain('find=AD');
  });

  test('a long list of keys loads by pages, and j goes on to the next page', async () => {
    const server = await serve();
    const subjects = Array.from({ length: 130 }, (_, n) => `s${String(n).padStart(3, '0')}`);
    for (const subject of subjects) await state(server, '0001', '2026-01-01', subject);
    // A narrow page does not show the list beside its key.
    const page = await open(
      server,
      'auditor:eve',
      '/memory/main/front?subject=s099&predicate=phone',
      { width: 820 },
    );
    const rows = page.locator('li a[href*="subject=s"]');
    await rows.first().waitFor({ state: 'attached' });
    await page.getByRole('heading', { name: 's099 · phone' }).waitFor();
    expect(await rows.count()).toBe(100);
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 's100 · phone' }).waitFor();
    expect(await rows.count()).toBe(130);
    const other = await open(server, 'auditor:eve', '/memory/main/front');
    await other.getByRole('link', { name: /s000.*phone/ }).waitFor();
    expect(await other.getByRole('link', { name: /s100.*phone/ }).count()).toBe(0);
    await other.getByRole('link', { name: /s099.*phone/ }).scrollIntoViewIfNeeded();
    await other.getByRole('link', { name: /s129.*phone/ }).waitFor();
    expect(await other.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    await other.getByLabel('Search keys').fill('S12');
    await other.getByRole('link', { name: /s000.*phone/ }).waitFor({ state: 'detached' });
    expect(await other.getByRole('link', { name: /s12\d.*phone/ }).count()).toBe(10);
    await other.getByLabel('Search keys').fill('none');
    await other.getByText('No key matches').waitFor();
  });

  test('a text of an agent is not markup, and its unseen characters show', async () => {
    const server = await serve();
    const evil = '<img src=x onerror=alert(1)>\u202e\u200b\u001b[31m';
    await state(server, evil, '2026-01-01', evil);
    await state(server, `${evil}2`, '2026-02-01', evil);
    const page = await open(server, 'auditor:eve', '/memory/main/front');
    await page.getByRole('link', { name: /img/ }).first().click();
    await page.getByRole('group').getByRole('link').first().click();
    await page.getByLabel('Chosen version').getByText('Contradictions of its claim').waitFor();
    await page.getByText('\\u202e').first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
    const text = (await page.locator('body').textContent()) ?? '';
    const labels = await page
      .locator('[aria-label]')
      .evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')));
    for (const unseen of ['\u202e', '\u200b', '\u001b'])
      expect(text + labels.join()).not.toContain(unseen);
  });

  test.each(['light', 'dark'] as const)(
    'no rule of accessibility is broken: %s',
    async (scheme) => {
      const server = await serve();
      await contradicted(server);
      for (const width of [1280, 360]) {
        const list = await open(server, 'auditor:eve', '/memory', { scheme, width });
        await list.getByRole('link', { name: /ada.*phone/ }).waitFor();
        await expectAccessible(list);
        const recall = await open(
          server,
          'auditor:eve',
          '/memory/main/front?view=recall&valid=any',
          { scheme, width },
        );
        await recall.getByRole('link', { name: /0002/ }).waitFor();
        await expectAccessible(recall);
        const detail = await open(server, 'auditor:eve', ADA, { scheme, width });
        await detail.getByRole('table').getByRole('link', { name: '0002' }).click();
        await detail.getByText('Contradictions of its claim').waitFor();
        await expectAccessible(detail);
        for (const page of [list, recall, detail])
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
            width,
          );
      }
    },
  );

  test('a space without facts, and a person without the right, have their words', async () => {
    const server = await serve();
    const empty = await open(server, 'auditor:eve', '/memory/main');
    await empty.getByText('No fact is recorded yet').waitFor();
    const agent = await open(server, 'agent:other', '/memory/main/front');
    await agent.getByRole('alert').first().waitFor();
    const unknown = await open(server, 'auditor:eve', ADA);
    await unknown.getByText('There is no such key').waitFor();
  });
});
