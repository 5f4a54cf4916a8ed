import { afterEach, expect, test, vi } from 'vitest';
import { WebShop } from '../../../tests/support/browser/web-shop.ts';
import { withChromium } from '../../../tests/support/browser/with-chromium.ts';
import { transact } from '../../../tests/support/tool-stage.ts';
import { type BrowserToolsOptions, browserTools } from './index.ts';

const open: WebShop[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

async function shopOf(): Promise<WebShop> {
  const shop = await WebShop.open();
  open.push(shop);
  return shop;
}

withChromium('a browser', (browser) => {
  const toolsOf = (shop: WebShop, rest: Partial<BrowserToolsOptions> = {}) =>
    browserTools({ context: browser.context, allow: [shop.origin], timeoutMs: 3_000, ...rest });
  const looked = async (shop: WebShop, tool: string, input: object, rest: Partial<BrowserToolsOptions> = {}) => {
    let answer: any;
    const { error } = await transact(
      toolsOf(shop, rest),
      async (tx) => {
        answer = await tx.call(tool, input);
      },
      { callMs: 20_000 },
    );
    return { answer, error };
  };

  test('a page is seen by its text, links, fields and buttons', async () => {
    const shop = await shopOf();
    const { answer } = await looked(shop, 'browser.goto', { url: `${shop.origin}/form` });
    expect(answer).toMatchObject({
      url: `${shop.origin}/form`,
      status: 200,
      title: 'order',
      isCut: false,
      buttons: ['Order'],
      links: [],
      fields: [
        { label: 'Item', name: 'item', type: 'text', value: '' },
        { name: 'amount', type: 'select-one', value: '1' },
        { label: 'Gift', name: 'gift', type: 'checkbox', value: 'false' },
        { name: 'key' },
      ],
    });
    const home = await looked(shop, 'browser.goto', { url: shop.origin }, { textMax: 5 });
    expect(home.answer).toMatchObject({
      text: 'The S',
      isCut: true,
      links: [{ text: 'order', url: `${shop.origin}/form` }, { text: 'away' }],
    });
  });

  test('elements are read as they stand, also by what a model might think up', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/form`;
    const read = async (of: object, what = 'text') => (await looked(shop, 'browser.read', { url, of, what })).answer;
    expect(await read({ css: 'option' })).toEqual(['1', '2']);
    expect(await read({ label: 'Item' }, 'value')).toEqual(['']);
    expect(await read({ role: 'button', name: 'Order' })).toEqual(['Order']);
    expect(await read({ label: '"); document.title = "x' })).toEqual([]);
    expect(await read({ css: 'nothing' })).toEqual([]);
    for (const css of ['a >> xpath=//b', ''])
      expect((await looked(shop, 'browser.read', { url, of: { css } })).error).toMatchObject({ code: 'bad_input' });
  });

  test('what is filled in is seen by one’s own looks, and leaves no request behind', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/form`;
    const seen: unknown[] = [];
    const { isCommitted } = await transact(
      toolsOf(shop),
      async (tx) => {
        const look = () => tx.call('browser.read', { url, of: { css: '#echo' } });
        seen.push(await look());
        const filled = await tx.call('browser.fill', { url, fields: [{ field: { label: 'Item' }, value: 'lamp' }] });
        seen.push(filled, await look());
        seen.push(
          await tx.call('browser.fill', {
            url,
            fields: [
              { field: { label: 'Item' }, value: 'chair' },
              { field: { css: 'select' }, option: '2' },
              { field: { css: '[name=gift]' }, checked: true },
            ],
          }),
        );
        seen.push(
          await look(),
          await tx.call('browser.read', { url, of: { css: 'select, [name=gift]' }, what: 'value' }),
        );
        // Another page is another page.
        seen.push(await tx.call('browser.read', { url: `${url}?again`, of: { css: '#echo' } }));
      },
      { callMs: 20_000 },
    );
    expect(isCommitted).toBe(true);
    expect(seen).toEqual([
      [''],
      { url, fields: [{ field: { label: 'Item' }, value: 'lamp' }] },
      ['for lamp'],
      {
        url,
        fields: [
          { field: { label: 'Item' }, value: 'chair' },
          { field: { css: 'select' }, option: '2' },
          { field: { css: '[name=gift]' }, checked: true },
        ],
      },
      ['for chair'],
      ['2', 'true'],
      [''],
    ]);
    expect(shop.requests.every(({ method }) => method === 'GET')).toBe(true);
    expect(shop.orders).toEqual([]);
  });

  test('a page that is filled in may not tell anybody', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/autosave`;
    await transact(
      toolsOf(shop),
      async (tx) => {
        await tx.call('browser.fill', { url, fields: [{ field: { label: 'Item' }, value: 'lamp' }] });
        expect(await tx.call('browser.read', { url, of: { css: '#echo' } })).toEqual(['for lamp']);
      },
      { callMs: 20_000 },
    );
    expect(shop.asked('/autosave')).not.toContain('POST');
  });

  test('a button is pressed once, after the commit', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/form`;
    const work = (isWanted: boolean) =>
      transact(
        toolsOf(shop),
        async (tx) => {
          const { fields } = await tx.call('browser.fill', {
            url,
            fields: [{ field: { label: 'Item' }, value: 'lamp' }],
          });
          await tx.call('browser.submit', { url, fields, button: { role: 'button', name: 'Order' } });
          expect(shop.orders).toEqual([]);
          if (!isWanted) throw new Error('not that');
        },
        { callMs: 20_000 },
      );
    await work(false);
    expect(shop.asked('/orders')).toEqual([]);
    const { outcome, left } = await work(true);
    expect([outcome?.effects, left]).toEqual(['settled', []]);
    expect(shop.orders).toMatchObject([{ item: 'lamp', amount: '1' }]);
    expect(shop.asked('/orders')).toEqual(['POST']);
  });

  test('what is sent is what was filled in', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/form`;
    const { error } = await transact(
      toolsOf(shop),
      async (tx) => {
        await tx.call('browser.fill', { url, fields: [{ field: { label: 'Item' }, value: 'lamp' }] });
        const other = [{ field: { label: 'Item' }, value: 'chair' }];
        await tx.call('browser.submit', { url, fields: other, button: { css: 'button' } });
      },
      { callMs: 20_000 },
    );
    expect(error).toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('hand on what fill answered'),
    });
    expect(shop.orders).toEqual([]);
  });

  test('a page that leads on is followed, where every step of it is allowed', async () => {
    const [shop, other] = [await shopOf(), await shopOf()];
    shop.elsewhere = other.origin;
    const { answer } = await looked(shop, 'browser.goto', { url: `${shop.origin}/chain` });
    expect(answer).toMatchObject({ url: `${shop.origin}/form`, status: 200 });
    for (const path of ['/away', '/chain-away']) {
      const { error } = await looked(shop, 'browser.goto', { url: shop.origin + path });
      expect(error, path).toMatchObject({
        code: 'tool_failed',
        message: expect.stringContaining(`${other.origin} is not allowed`),
      });
    }
    const round = await looked(shop, 'browser.goto', { url: `${shop.origin}/round` });
    expect(round.error).toMatchObject({ code: 'tool_failed' });
    expect(other.requests).toEqual([]);
    const both = await looked(
      shop,
      'browser.goto',
      { url: `${shop.origin}/away` },
      { allow: [shop.origin, other.origin] },
    );
    expect(both.answer).toMatchObject({ url: `${other.origin}/`, title: 'shop' });
  });

  test('a page loads nothing from elsewhere', async () => {
    const [shop, other] = [await shopOf(), await shopOf()];
    shop.elsewhere = other.origin;
    const { answer } = await looked(shop, 'browser.goto', { url: `${shop.origin}/loads` });
    expect(answer.text).toContain('here');
    const clicked = await looked(shop, 'browser.goto', { url: shop.origin, clicks: [{ css: '#away' }] });
    expect(clicked.error ?? clicked.answer).toBeDefined();
    expect(other.requests).toEqual([]);
  });

  test('a click before a look may open what is to be read, and do nothing', async () => {
    const shop = await shopOf();
    const { answer } = await looked(shop, 'browser.goto', {
      url: shop.origin,
      clicks: [{ role: 'link', name: 'order' }],
    });
    expect(answer).toMatchObject({ url: `${shop.origin}/form`, title: 'order' });
    await looked(shop, 'browser.goto', { url: `${shop.origin}/form`, clicks: [{ css: 'button' }] });
    expect(shop.asked('/orders')).toEqual([]);
  });

  test('no second window, no socket, and nothing that is sent on leaving', async () => {
    const [shop, other] = [await shopOf(), await shopOf()];
    shop.elsewhere = other.origin;
    for (const path of ['/popup', '/noopener'])
      await looked(shop, 'browser.goto', { url: shop.origin + path, clicks: [{ css: '#open' }] });
    for (const path of ['/socket', '/beacon', '/leaving'])
      await looked(shop, 'browser.goto', { url: shop.origin + path });
    const asked = (path: string): string[] => shop.asked(path);
    expect([asked('/opened'), asked('/ws'), asked('/beacon'), other.requests]).toEqual([[], [], ['GET'], []]);
  });

  test('nothing is left open', async () => {
    const shop = await shopOf();
    await looked(shop, 'browser.goto', { url: `${shop.origin}/popup`, clicks: [{ css: '#open' }] });
    await looked(shop, 'browser.goto', { url: `${shop.origin}/missing` });
    await looked(shop, 'browser.goto', { url: `${shop.origin}/away` });
    // A page that a page has opened may come after it was left.
    const { pages } = browser.context as unknown as { pages(): unknown[] };
    await vi.waitFor(() => expect(pages.call(browser.context)).toEqual([]), { timeout: 300_000 });
  });

  test.each<[string, object, string]>([
    ['an origin that is not allowed', { url: 'http://127.0.0.1:1/' }, 'none of the origins'],
    ['a file', { url: 'file:///etc/passwd' }, 'none of the origins'],
    ['a script', { url: 'javascript:alert(1)' }, 'none of the origins'],
    ['no URL', { url: 'shop' }, 'no URL'],
  ])('%s is refused', async (_, input, why) => {
    const shop = await shopOf();
    const { error } = await looked(shop, 'browser.goto', input);
    expect(error).toMatchObject({ code: 'bad_input', message: expect.stringContaining(why) });
    expect(shop.requests).toEqual([]);
  });

  test('a field that is not there, or there twice, is told', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/form`;
    const filled = async (at: object) =>
      (await looked(shop, 'browser.fill', { url, fields: [{ field: at, value: 'x' }] })).error;
    expect(await filled({ label: 'Price' })).toMatchObject({ message: expect.stringContaining('the page has no') });
    expect(await filled({ css: 'input' })).toMatchObject({ message: expect.stringContaining('the page has 3') });
    expect(await filled({ css: 'button' })).toMatchObject({ message: expect.stringContaining('could not be filled') });
  });
});
