/** Texts of agents on every page: they are not markup, and their unseen characters show. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { withConsole } from '../support/console/browser.ts';
import { succeed } from '../support/server/calling.ts';
import type { TestServer } from '../support/server/serving.ts';
import { till } from '../support/server/till.ts';

/** Markup, a reversed direction, a character without width, a tag character, and a colour. */
const EVIL = '<img src=x onerror=alert(1)>\u202e\u200b\u{e0041}\u001b[31m';
const UNSEEN = ['\u202e', '\u200b', '\u{e0041}', '\u001b'];
/** A trajectory has a plain name, and a note of any text. */
const NOTED = 'noted';
const MAIN = { trajectory: 'main' };

/** A ledger with the text in every field that an agent, or a person for it, may fill. */
async function hostile(server: TestServer): Promise<{ readonly approval: string }> {
  const propose = (action: string, args: unknown, key: string) =>
    server.ask('POST', '/v1/trajectories/main/proposals', {
      ...{ token: server.tokens['agent:scout'], key },
      body: {
        ...{ action, args, role: { name: 'clerk', params: { desk: `${EVIL}${key}` } } },
        observations: [{ name: `seen ${EVIL}`, value: { [EVIL]: EVIL } }],
      },
    });
  const from = { from: '2026-01-01T00:00:00.000000Z' };
  for (const [n, object] of [EVIL, `${EVIL}2`].entries())
    await succeed(server, 'memory.state', {
      ...{ as: 'agent:scout', path: { ...MAIN, space: 'front' }, key: `fact ${n}` },
      body: {
        verb: 'assert',
        subject: EVIL,
        predicate: 'phone',
        object,
        valid: from,
        source: EVIL,
      },
    });
  await propose('wire', { cents: 5 }, 'w');
  await propose(EVIL, { [EVIL]: EVIL }, 'unknown');
  const { body } = await propose('pay', { amount: 200 }, 'p');
  const rejected = await propose('pay', { amount: 300 }, 'r');
  const { approval } = await succeed(server, 'approvals.get', {
    path: { approval: rejected.body.approval_id },
  });
  await succeed(server, 'approvals.reject', {
    ...{ as: 'boss:ada', path: { approval: rejected.body.approval_id } },
    body: { digest: approval.digest, reason: `no ${EVIL}` },
  });
  await server.service.assize.create(till, { trajectoryId: NOTED, note: EVIL });
  return { approval: body.approval_id };
}

/** Everything that a page says: texts, values of fields, and names for readers of the screen. */
const SAID = `(() => {
  const names = ['aria-label', 'title', 'alt', 'placeholder', 'aria-description'];
  const elements = [...document.querySelectorAll('*')];
  return [
    document.title,
    document.body.innerText,
    document.body.textContent,
    ...elements.flatMap((one) => names.map((name) => one.getAttribute(name) ?? '')),
    ...elements.map((one) => (one instanceof HTMLInputElement || one instanceof HTMLTextAreaElement ? one.value : '')),
  ].join('\\n');
})()`;

async function expectInert(page: Page): Promise<void> {
  const said = await page.evaluate<string>(SAID);
  const at = Math.max(...UNSEEN.map((one) => said.indexOf(one)));
  expect(
    at === -1 ? '' : said.slice(Math.max(0, at - 60), at + 20),
    `${page.url()} shows a raw character`,
  ).toBe('');
  expect(await page.locator('img').count(), page.url()).toBe(0);
}

withConsole(({ serve, open }) => {
  test('each page shows a hostile ledger as text alone', async () => {
    const server = await serve();
    const { approval } = await hostile(server);
    const { transactions } = await succeed(server, 'effects.list', { query: { all: 'true' } });
    const last = (await server.store.head('main'))!.seq;
    const key = `subject=${encodeURIComponent(EVIL)}&predicate=phone`;
    const entries = Array.from({ length: last + 1 }, (_, seq) => `/timeline/main/${seq}`);
    const paths = [
      ...['/inbox', `/inbox/${approval}`, '/timeline/main', ...entries, `/timeline/${NOTED}/0`],
      ...[
        `/timeline/main/${last}?view=state`,
        `/timeline/main/${last}?view=compare`,
        `/timeline/main/2?view=record`,
      ],
      ...['/what-if/main', `/what-if/${NOTED}`, '/effects', `/effects/${transactions[0]?.epoch}`],
      ...[
        '/memory/main/front',
        `/memory/main/front?${key}`,
        '/memory/main/front?view=recall&valid=any',
      ],
      ...['/agents', '/agents/main', `/agents/${NOTED}`, '/audit'],
    ];
    const page = await open(server, 'boss:ada', '/inbox');
    await page.getByText('Live').waitFor();
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    for (const path of paths) {
      await page.goto(server.url + path);
      await page.getByText('Live').waitFor();
      await expect.poll(() => page.getByText(/^Loading/).count(), { timeout: 10_000 }).toBe(0);
      await expectInert(page);
      if (path.startsWith('/inbox/')) {
        await page.keyboard.press('e');
        await page.getByRole('button', { name: /^Amend/, pressed: true }).waitFor();
        await expectInert(page);
      }
    }
    expect(dialogs).toEqual([]);
  });
});
