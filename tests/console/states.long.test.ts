/** Each page of the console without data, without an answer and without the right. */
import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectAccessible, type Opening, showIn, withConsole } from '../support/console/browser.ts';
import { expectFitting } from '../support/console/page-checks.ts';
import { pay, succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';

const PAGES = [
  '/needs',
  '/inbox',
  '/timeline/main',
  '/what-if/main',
  '/what-if/main?try=simulation',
  '/effects',
  '/memory/main/front',
  '/agents',
  '/audit',
  '/incidents',
];

/** All requests of a page but those of its frame. */
function withRequests(answer: (route: Route) => Promise<unknown>) {
  return (page: Page) =>
    page.route(/\/v1\//, (route) =>
      /\/v1\/(me|events)\b/.test(route.request().url()) ? route.continue() : answer(route),
    );
}

const problem = (status: number, code: string, detail: string) => (route: Route) =>
  route.fulfill({
    ...{ status, contentType: 'application/problem+json' },
    body: JSON.stringify({
      type: 'about:blank',
      title: code,
      status,
      code,
      detail,
      retryable: false,
    }),
  });

/** The words of each state, after the requests of a page are answered so. */
const STATES = [
  ['loading', () => new Promise(() => undefined), /^Loading/],
  ['offline', (route: Route) => route.abort(), 'The server does not answer'],
  ['failed', problem(500, 'internal', 'The disk is full. Free some space.'), 'The disk is full.'],
  ['not allowed', problem(403, 'forbidden', 'Only readers see this.'), 'You may not see this'],
] as const;

withConsole(({ serve, open }) => {
  /**
   * The work on each page in a few tabs. Opening a tab takes longer than loading a page, and pages
   * in tabs of their own wait at the same time.
   */
  async function each(
    [server, principal, opening]: readonly [TestServer, string, Opening?],
    work: (page: Page, path: string) => Promise<void>,
    {
      paths = PAGES,
      tabs = 1,
    }: { readonly paths?: readonly string[]; readonly tabs?: number } = {},
  ): Promise<void> {
    const inTab = async (mine: readonly string[]): Promise<void> => {
      const page = await open(server, principal, mine[0] as string, opening);
      for (const path of mine) {
        if (path !== mine[0]) await page.goto(server.url + path);
        await work(page, path);
      }
    };
    const lists = Array.from({ length: tabs }, (_, tab) =>
      paths.filter((_, at) => at % tabs === tab),
    );
    await Promise.all(lists.map(inTab));
  }

  test.each(STATES)('each page has words for: %s', async (state, answer, words) => {
    const server = await serve();
    const given = [server, 'admin:ann', { before: withRequests(answer) }] as const;
    const work = async (page: Page): Promise<void> => {
      await page.getByText(words).first().waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await showIn(page, colorScheme);
        await expectAccessible(page);
      }
      await expectFitting(page);
    };
    // A page asks again for some seconds before it says so.
    await each(given, work, { tabs: state === 'offline' ? PAGES.length : 1 });
  });

  test('a page never acts as another person than it shows', async () => {
    const server = await serve();
    await succeed(server, 'proposals.create', pay('b', 200, 'k'));
    const page = await open(server, 'boss:ada', '/inbox');
    await page.keyboard.press('j');
    await page.getByRole('button', { name: /^pay/ }).click();
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    const [name = '', value = ''] = (await server.cookieFor('boss:bob')).split('=');
    await page
      .context()
      .addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: 'Lax' }]);
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText('This browser is signed in as another person').waitFor();
    await expectAccessible(page);
    const { approvals } = await succeed(server, 'approvals.list', { as: 'boss:bob' });
    expect(approvals).toHaveLength(1);
    await page.getByRole('button', { name: 'Load the page again' }).click();
    await page.getByText('boss:bob').first().waitFor();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText('Nothing waits').waitFor();
  });

  test('each page has words for a server without a trajectory', async () => {
    const server = await serve({ config: { worlds: {} } });
    const words: Readonly<Record<string, string>> = {
      '/inbox': 'Nothing waits',
      '/timeline': 'There is no world',
      '/what-if': 'There is no world',
      '/effects': 'No transaction',
      '/memory': 'No world has a memory',
      '/agents': 'Choose an agent',
      '/agents?view=worlds': 'No world',
      '/audit': 'No checkpoint is signed yet',
      '/needs': 'Waiting: none',
      '/nowhere': 'Go to what needs you',
    };
    const found = async (page: Page, path: string): Promise<void> => {
      await page
        .getByText(words[path] as string)
        .first()
        .waitFor();
      await expectAccessible(page);
    };
    await each([server, 'admin:ann'], found, { paths: Object.keys(words) });
  });

  test('an agent sees on each page what it may not see', async () => {
    const server = await serve();
    await each([server, 'agent:other'], async (page, path) => {
      const isOwn = ['/needs', '/inbox', '/agents'].includes(path);
      await page
        .getByText(
          isOwn
            ? /Waiting: none|Nothing waits|Choose an agent/
            : /You may not see this|There is no such (trajectory|world)/,
        )
        .first()
        .waitFor();
      await expectAccessible(page);
    });
  });

  test('each page says to a signed-out browser how to sign in', async () => {
    const server = await serve();
    await each([server, 'nobody'], async (page) => {
      await page.getByRole('heading', { level: 1, name: 'You are not signed in' }).waitFor();
    });
  });

  test('a page keeps its data while the server is gone, and its frame', async () => {
    const server = await serve();
    await succeed(server, 'proposals.create', pay('a', 1, 'k'));
    const page = await open(server, 'admin:ann', '/timeline/main');
    await page.getByText('Live').waitFor();
    await page.getByRole('link', { name: /pay/ }).waitFor();
    await server.stop();
    await page.getByText('Offline').waitFor();
    await page.getByRole('link', { name: /pay/ }).waitFor();
    // The code of this page is not loaded yet.
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('alert').getByText('The page can’t be shown').first().waitFor();
    await page.getByRole('button', { name: 'Load again' }).waitFor();
    await expectAccessible(page);
    await page.goBack();
    await page.getByRole('link', { name: /pay/ }).waitFor();
    expect(page.url()).toContain('/timeline');
  });

  test.each([
    ['loading', () => new Promise(() => undefined), 'loading…'],
    ['failed', problem(500, 'internal', 'The disk is full.'), 'could not be read'],
  ])(
    'a value before that has no answer is not shown as none: %s',
    async (_state, answer, words) => {
      const server = await serve();
      await succeed(server, 'proposals.create', pay('a', 1, 'k'));
      const { approval_id: id } = await succeed(server, 'proposals.create', pay('a', 200, 'l'));
      const before = (page: Page) => page.route(/\/state\?/, answer);
      const page = await open(server, 'boss:ada', `/inbox/${id}`, { before });
      const row = page.getByRole('row', { name: /\/desks\/a/ });
      await row.getByText(words).waitFor();
      expect(await row.getByText('none').count()).toBe(0);
    },
  );
});
