import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  answerWith,
  leadTo,
  type Pages,
  SmallSite,
  script,
} from '../../tests/support/tools/browser/small-site.ts';
import { WebShop } from '../../tests/support/tools/browser/web-shop.ts';
import { chromiumHere, withChromium } from '../../tests/support/tools/browser/with-chromium.ts';
import { transact } from '../../tests/support/tools/tool-stage.ts';
import { type BrowserToolsOptions, browserTools, launchBrowser, submitTool } from './index.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

async function shopOf(): Promise<WebShop> {
  const shop = await WebShop.open();
  open.push(shop);
  return shop;
}

async function siteOf(pages: Pages): Promise<SmallSite> {
  const site = await SmallSite.open(pages);
  open.push(site);
  return site;
}

withChromium('a browser', (browser) => {
  const toolsOf = (shop: WebShop, rest: Partial<BrowserToolsOptions> = {}) =>
    browserTools({ context: browser.context, allow: [shop.origin], timeoutMs: 3_000, ...rest });
  const looked = async (
    shop: WebShop,
    tool: string,
    input: object,
    rest: Partial<BrowserToolsOptions> = {},
  ) => {
    let answer: any;
    const { error } = await transact(
      toolsOf(shop, rest),
      async (tx) => {
        answer = await tx.call(tool, input);
      },
      { callTimeoutMs: 20_000 },
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

  test('a link in a drawing has an address as any other', async () => {
    const site = await siteOf({
      '/': '<svg><a href="/one"><text>one</text></a><a href="http://[">none</a></svg><a href="/two">two</a>',
    });
    const tools = browserTools({ context: browser.context, allow: [site.origin] });
    let links: unknown;
    const look = async (tx: any) => {
      ({ links } = await tx.call('browser.goto', { url: site.origin }));
    };
    await transact(tools, look, { callTimeoutMs: 20_000 });
    expect(links).toEqual([
      { text: 'one', url: `${site.origin}/one` },
      { text: 'none', url: 'http://[' },
      { text: 'two', url: `${site.origin}/two` },
    ]);
  });

  test.each([
    [
      'fill',
      {
        fields: ['#i', '#j'].map((css) => ({ field: { css }, value: 'x' })),
      },
    ],
    ['submit', { fields: [{ field: { css: '#i' }, value: 'x' }], button: { css: 'button' } }],
    ['read', { clicks: [{ css: 'button' }], of: { css: 'p' } }],
    ['goto', { clicks: [{ css: 'button' }] }],
  ])('a page with an endless script is abandoned: %s', async (tool, input) => {
    const hangs = 'setTimeout(() => { for (;;); }, 0)';
    const site = await siteOf({
      '/': `<input id=i oninput="${hangs}"><input id=j><button onclick="${hangs}">go on</button><p>here</p>`,
    });
    const tools = browserTools({ context: browser.context, allow: [site.origin], timeoutMs: 500 });
    const work = (tx: any) => tx.call(`browser.${tool}`, { url: site.origin, ...input });
    const { error } = await transact(tools, work, { callTimeoutMs: 20_000 });
    expect(error).toMatchObject({ code: 'tool_failed' });
    const { pages } = browser.context as unknown as { pages(): unknown[] };
    await vi.waitFor(() => expect(pages.call(browser.context)).toEqual([]), { timeout: 10_000 });
  });

  test('a plan has an end, also where each field takes its time', async () => {
    const slow = 'for (const end = Date.now() + 400; Date.now() < end; );';
    const ids = Array.from({ length: 12 }, (_, n) => `f${n}`);
    const inputs = ids.map((id) => `<input id=${id} oninput="${slow}">`).join('');
    const site = await siteOf({ '/': inputs });
    const tools = browserTools({ context: browser.context, allow: [site.origin], timeoutMs: 600 });
    const fields = ids.map((id) => ({ field: { css: `#${id}` }, value: 'x' }));
    const work = (tx: any) => tx.call('browser.fill', { url: site.origin, fields });
    const { error } = await transact(tools, work, { callTimeoutMs: 20_000 });
    expect(error).toMatchObject({ code: 'tool_failed' });
  });

  test('elements are read as they are, also by selectors that a model may invent', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/form`;
    const read = async (of: object, what = 'text') =>
      (await looked(shop, 'browser.read', { url, of, what })).answer;
    expect(await read({ css: 'option' })).toEqual(['1', '2']);
    expect(await read({ label: 'Item' }, 'value')).toEqual(['']);
    expect(await read({ role: 'button', name: 'Order' })).toEqual(['Order']);
    expect(await read({ label: '"); document.title = "x' })).toEqual([]);
    expect(await read({ css: 'nothing' })).toEqual([]);
    for (const css of ['a >> xpath=//b', ''])
      expect((await looked(shop, 'browser.read', { url, of: { css } })).error).toMatchObject({
        code: 'bad_input',
      });
  });

  test('filled fields are visible to the caller’s own reads, and send nothing', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/form`;
    const seen: unknown[] = [];
    const { isCommitted } = await transact(
      toolsOf(shop),
      async (tx) => {
        const look = () => tx.call('browser.read', { url, of: { css: '#echo' } });
        seen.push(await look());
        const filled = await tx.call('browser.fill', {
          url,
          fields: [{ field: { label: 'Item' }, value: 'lamp' }],
        });
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
      { callTimeoutMs: 20_000 },
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

  test('a page can’t report its filled fields to a server', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/autosave`;
    await transact(
      toolsOf(shop),
      async (tx) => {
        await tx.call('browser.fill', {
          url,
          fields: [{ field: { label: 'Item' }, value: 'lamp' }],
        });
        expect(await tx.call('browser.read', { url, of: { css: '#echo' } })).toEqual(['for lamp']);
      },
      { callTimeoutMs: 20_000 },
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
          await tx.call('browser.submit', {
            url,
            fields,
            button: { role: 'button', name: 'Order' },
          });
          expect(shop.orders).toEqual([]);
          if (!isWanted) throw new Error('not that');
        },
        { callTimeoutMs: 20_000 },
      );
    await work(false);
    expect(shop.asked('/orders')).toEqual([]);
    const { outcome, left } = await work(true);
    expect([outcome?.effects, left]).toEqual(['settled', []]);
    expect(shop.orders).toMatchObject([{ item: 'lamp', amount: '1' }]);
    expect(shop.asked('/orders')).toEqual(['POST']);
  });

  test('submit sends the values that were filled in', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/form`;
    const { error } = await transact(
      toolsOf(shop),
      async (tx) => {
        await tx.call('browser.fill', {
          url,
          fields: [{ field: { label: 'Item' }, value: 'lamp' }],
        });
        const other = [{ field: { label: 'Item' }, value: 'chair' }];
        await tx.call('browser.submit', { url, fields: other, button: { css: 'button' } });
      },
      { callTimeoutMs: 20_000 },
    );
    expect(error).toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('Pass the fields that fill returned'),
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
    const clicked = await looked(shop, 'browser.goto', {
      url: shop.origin,
      clicks: [{ css: '#away' }],
    });
    expect(clicked.error ?? clicked.answer).toBeDefined();
    expect(other.requests).toEqual([]);
  });

  test('a click before a read may open content, and has no other effect', async () => {
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
    expect([asked('/opened'), asked('/ws'), asked('/beacon'), other.requests]).toEqual([
      [],
      [],
      ['GET'],
      [],
    ]);
  });

  test('nothing is left open', async () => {
    const shop = await shopOf();
    await looked(shop, 'browser.goto', {
      url: `${shop.origin}/popup`,
      clicks: [{ css: '#open' }],
    });
    await looked(shop, 'browser.goto', { url: `${shop.origin}/missing` });
    await looked(shop, 'browser.goto', { url: `${shop.origin}/away` });
    // A page that a page has opened may come after it was left.
    const { pages } = browser.context as unknown as { pages(): unknown[] };
    await vi.waitFor(() => expect(pages.call(browser.context)).toEqual([]), { timeout: 300_000 });
  });

  test.each<[string, object, string]>([
    ['an origin that is not allowed', { url: 'http://127.0.0.1:1/' }, 'is not an allowed origin'],
    ['a file', { url: 'file:///etc/passwd' }, 'is not an allowed origin'],
    ['a script', { url: 'javascript:alert(1)' }, 'is not an allowed origin'],
    ['no URL', { url: 'shop' }, 'is not a URL'],
  ])('%s is refused', async (_, input, why) => {
    const shop = await shopOf();
    const { error } = await looked(shop, 'browser.goto', input);
    expect(error).toMatchObject({ code: 'bad_input', message: expect.stringContaining(why) });
    expect(shop.requests).toEqual([]);
  });

  test('a missing or ambiguous field is reported', async () => {
    const shop = await shopOf();
    const url = `${shop.origin}/form`;
    const filled = async (at: object) =>
      (await looked(shop, 'browser.fill', { url, fields: [{ field: at, value: 'x' }] })).error;
    expect(await filled({ label: 'Price' })).toMatchObject({
      message: expect.stringContaining('the page has no'),
    });
    expect(await filled({ css: 'input' })).toMatchObject({
      message: expect.stringContaining('the page has 3'),
    });
    expect(await filled({ css: 'button' })).toMatchObject({
      message: expect.stringContaining('could not be filled'),
    });
  });
});

/** Requests sent by other means may arrive after the page was closed. */
const LATE_MS = 700;

withChromium('a page that looks for a way out', (browser) => {
  const looked = async (tool: string, input: object, allow: string[]) => {
    let answer: any;
    const tools = browserTools({ context: browser.context, allow, timeoutMs: 3_000 });
    const work = async (tx: any) => {
      answer = await tx.call(tool, input);
    };
    const { error } = await transact(tools, work, { callTimeoutMs: 20_000 });
    return { answer, error };
  };
  const goTo = (site: SmallSite, path = '/') =>
    looked('browser.goto', { url: site.origin + path }, [site.origin]);

  const WORKER = script(`
    const order = () => fetch('/order', { method: 'POST' });
    onconnect = ({ ports: [port] }) => { port.onmessage = order; };
    if (location.search === '?now') order();`);

  test.each([
    ['a shared worker', `<script>new SharedWorker('/worker.js?now')</script>`],
    [
      'a shared worker of a frame',
      `<iframe id=f></iframe><script>new f.contentWindow.SharedWorker('/worker.js?now')</script>`,
    ],
    ['what is put off', `<script>fetchLater('/order', { method: 'POST' })</script>`],
    [
      'what a frame puts off',
      `<iframe id=f></iframe><script>f.contentWindow.fetchLater('/order', { method: 'POST' })</script>`,
    ],
  ])('sends no deed by %s', async (_, page) => {
    const site = await siteOf({ '/': page, '/worker.js': WORKER });
    expect((await goTo(site)).answer).toMatchObject({ status: 200 });
    await pause(LATE_MS);
    expect(site.posts).toEqual([]);
  });

  test.each([
    [
      'a shared worker',
      `<script>const w = new SharedWorker('/worker.js')</script><button onclick="w.port.postMessage(1)">Order</button>`,
    ],
    [
      'what is put off',
      `<button onclick="fetchLater('/order', { method: 'POST' })">Order</button>`,
    ],
  ])('has sent nothing when its button is pressed, and reports that: %s', async (_, page) => {
    const site = await siteOf({ '/': page, '/worker.js': WORKER });
    const tool = submitTool({
      name: 'shop.order',
      context: browser.context,
      allow: [site.origin],
      timeoutMs: 700,
      input: z.strictObject({}),
      url: `${site.origin}/`,
      fields: () => [],
      button: { css: 'button' },
    });
    const { left } = await transact([tool], (tx) => tx.call('shop.order', {}), {
      callTimeoutMs: 20_000,
    });
    await pause(LATE_MS);
    expect([site.posts, left.map(({ phase }) => phase)]).toEqual([[], ['unresolved']]);
  });

  test.each([
    [
      'a request',
      `fetch('/r', { headers: { authorization: 'Bearer x' } }).then((a) => a.text()).then((t) => { got.textContent = t; })`,
    ],
    [
      'a frame',
      `f.onload = () => { got.textContent = f.contentDocument?.body.innerText ?? 'nothing'; }; f.src = '/r';`,
    ],
  ])('reads nothing of another origin, even by its own redirects: by %s', async (_, steal) => {
    const headers: IncomingHttpHeaders[] = [];
    const bank = await siteOf({
      '/login': answerWith('in', {
        headers: { 'set-cookie': 'sid=s3cret; HttpOnly; SameSite=Strict' },
      }),
      '/account': (request, response) => {
        headers.push(request.headers);
        answerWith(`${request.headers.cookie} has 1000`)(request, response);
      },
    });
    const site = await siteOf({
      '/': `<p id=got></p><iframe id=f></iframe><button>wait</button><script>${steal}</script>`,
      '/r': leadTo(`${bank.alias}/account`),
    });
    const allow = [site.origin, bank.alias];
    await looked('browser.goto', { url: `${bank.alias}/login` }, allow);
    const { answer } = await looked(
      'browser.read',
      { url: site.origin, of: { css: '#got' }, clicks: Array(3).fill({ css: 'button' }) },
      allow,
    );
    expect(answer[0]).not.toContain('1000');
    expect(headers).toEqual([]);
    // A navigation to the address follows the redirect, unlike a mere load.
    const gone = await looked('browser.goto', { url: `${site.origin}/r` }, allow);
    expect(gone.answer).toMatchObject({
      url: `${bank.alias}/account`,
      text: 'sid=s3cret has 1000',
    });
  });

  test('reads public data of another origin, and signed-in data of its own', async () => {
    const account: Pages[string] = (request, response) =>
      answerWith(request.headers.cookie || 'nobody', {
        headers: { 'access-control-allow-origin': '*' },
      })(request, response);
    const pageOf = (url: string): string => `<p id=got></p><button>wait</button><script>
      fetch('${url}').then((a) => a.text()).then((t) => { got.textContent = t; });</script>`;
    const bank = await siteOf({
      '/login': answerWith('in', {
        headers: { 'set-cookie': 'sid=s3cret; HttpOnly; SameSite=Strict' },
      }),
      '/account': account,
      '/': pageOf('/account'),
    });
    const site = await siteOf({ '/': pageOf(`${bank.alias}/account`) });
    const allow = [site.origin, bank.alias];
    await looked('browser.goto', { url: `${bank.alias}/login` }, allow);
    const told = async (url: string): Promise<unknown> => {
      const clicks = Array(3).fill({ css: 'button' });
      return (await looked('browser.read', { url, of: { css: '#got' }, clicks }, allow)).answer[0];
    };
    expect([await told(site.origin), await told(bank.alias)]).toEqual([
      '<!doctype html>nobody',
      '<!doctype html>sid=s3cret',
    ]);
  });

  test.each([
    'chrome://version',
    'data:text/html,<p>mine</p>',
    'devtools://devtools/bundled/inspector.html',
    'about:blank',
  ])('is not followed to %s', async (to) => {
    const site = await siteOf({ '/': leadTo(to), '/link': '<a href="/">on</a>' });
    const why = {
      code: 'tool_failed',
      message: expect.stringContaining(`${new URL(to).protocol} is not allowed`),
    };
    expect((await goTo(site)).error).toMatchObject(why);
    const clicked = { url: `${site.origin}/link`, clicks: [{ css: 'a' }] };
    expect((await looked('browser.goto', clicked, [site.origin])).error).toMatchObject(why);
  });

  describe('reaches nothing that is not allowed', () => {
    test.each<[string, (rules: string, url: string) => Pages]>([
      [
        'by rules of speculation',
        (rules) => ({ '/': `<script type=speculationrules>${rules}</script>` }),
      ],
      [
        'by rules of speculation that a script makes',
        (rules) => ({
          '/': `<p></p><script>
            const made = document.createElement('script');
            made.type = 'speculationrules';
            made.textContent = ${JSON.stringify(rules)};
            document.body.append(made);</script>`,
        }),
      ],
      [
        'by rules of speculation that a header names',
        (rules) => ({
          '/': (_, response) =>
            response
              .writeHead(200, { 'content-type': 'text/html', 'speculation-rules': '"/rules.json"' })
              .end('<p>here</p>'),
          '/rules.json': (_, response) =>
            response
              .writeHead(200, { 'content-type': 'application/speculationrules+json' })
              .end(rules),
        }),
      ],
    ])('%s', async (_, pagesOf) => {
      const elsewhere = await siteOf({});
      const url = `${elsewhere.origin}/?what-the-page-knows`;
      const rules = JSON.stringify({
        prefetch: [{ source: 'list', urls: [url], eagerness: 'immediate' }],
      });
      const site = await siteOf(pagesOf(rules, url));
      expect((await goTo(site)).answer).toMatchObject({ status: 200 });
      await pause(LATE_MS);
      expect(elsewhere.asked).toEqual([]);
    });

    test('by automatic requests of a browser started for some origins only', async () => {
      const elsewhere = await siteOf({});
      const rules = JSON.stringify({
        prefetch: [{ source: 'list', urls: [elsewhere.alias], eagerness: 'immediate' }],
      });
      const hidden = `<p><template shadowrootmode=closed><script type=speculationrules>${rules}</script></template>here</p>`;
      const site = await siteOf({ '/': hidden });
      await using launched = await launchBrowser({
        executablePath: chromiumHere()!,
        allow: [site.origin],
      });
      const page = await launched.context.newPage();
      const options = { timeout: 3_000, waitUntil: 'load' } as const;
      expect((await page.goto(site.origin, options))?.status()).toBe(200);
      await expect(page.goto(elsewhere.alias, options)).rejects.toThrow('ERR_NAME_NOT_RESOLVED');
      const tools = browserTools({ context: launched.context, allow: [site.origin] });
      await transact(tools, (tx) => tx.call('browser.goto', { url: site.origin }), {
        callTimeoutMs: 20_000,
      });
      await pause(LATE_MS);
      expect(elsewhere.asked).toEqual([]);
    });

    test('by a connection of its own to another browser', async () => {
      const socket = createSocket('udp4').bind(0, '127.0.0.1');
      await once(socket, 'listening');
      let packets = 0;
      socket.on('message', () => packets++);
      const { port } = socket.address() as AddressInfo;
      const connects = (view: string): string => `{
        const peer = new ${view}.RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] });
        peer.createDataChannel('x');
        peer.setLocalDescription();
      }`;
      const site = await siteOf({
        '/': `<iframe id=f></iframe><script>${connects('window')}</script><script>${connects('f.contentWindow')}</script>`,
      });
      expect((await goTo(site)).answer).toMatchObject({ status: 200 });
      await pause(LATE_MS);
      socket.close();
      expect(packets).toBe(0);
    });
  });
});
