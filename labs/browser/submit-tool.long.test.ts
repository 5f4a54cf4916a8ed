import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SmallSite } from '../../tests/support/tools/browser/small-site.ts';
import { type OrderFault, WebShop } from '../../tests/support/tools/browser/web-shop.ts';
import { withChromium } from '../../tests/support/tools/browser/with-chromium.ts';
import { crashedEverywhere, transact } from '../../tests/support/tools/tool-stage.ts';
import { type SubmitToolOptions, submitTool } from './index.ts';

const open: WebShop[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

async function shopOf(...faults: OrderFault[]): Promise<WebShop> {
  const shop = await WebShop.open();
  shop.faults.push(...faults);
  open.push(shop);
  return shop;
}

const LAMP = { item: 'lamp', amount: '2' };

withChromium('a form in a browser', (browser) => {
  const declared = (shop: WebShop, rest: Partial<SubmitToolOptions> = {}) =>
    submitTool({
      name: 'shop.order',
      context: browser.context,
      allow: [shop.origin],
      timeoutMs: 10_000,
      input: z.strictObject({ item: z.string(), amount: z.string() }),
      url: `${shop.origin}/form`,
      fields: ({ item, amount }: any, key) => [
        { field: { label: 'Item' }, value: item },
        { field: { css: '[name=amount]' }, option: amount },
        { field: { css: '#key' }, value: key },
      ],
      button: { role: 'button', name: 'Order' },
      ...rest,
    });
  const asked = (shop: WebShop, rest: Partial<SubmitToolOptions> = {}) =>
    declared(shop, {
      reconcile: {
        url: `${shop.origin}/effects?key={key}`,
        find: async (seen) => {
          const [found] = await seen.texts({ css: '#found' });
          if (found !== undefined) return { order: found };
          if ((await seen.texts({ css: '#none' })).length === 1) return undefined;
          throw new Error('the page says neither');
        },
      },
      ...rest,
    });
  const reversible = (shop: WebShop, rest: Partial<SubmitToolOptions> = {}) =>
    asked(shop, {
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'queryable' },
      result: (seen) => ({ order: new URL(seen.url).searchParams.get('id') }),
      compensate: {
        url: `${shop.origin}/cancel?id={order}`,
        button: { css: 'button' },
        done: { css: '#gone' },
      },
      ...rest,
    });
  const sent = (
    tool: ReturnType<typeof submitTool>,
    input: object = LAMP,
    callTimeoutMs = 20_000,
  ) => transact([tool], (tx) => tx.call('shop.order', input), { callTimeoutMs });

  test('is filled in and sent after the commit, and the response is the result', async () => {
    const shop = await shopOf();
    const { isCommitted, left, outcome } = await sent(declared(shop));
    expect([isCommitted, left, outcome?.effects]).toEqual([true, [], 'settled']);
    expect(shop.orders).toMatchObject([
      { item: 'lamp', amount: '2', key: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(shop.asked('/orders')).toEqual(['POST']);
  });

  test('is called in the body if it can be compensated, and compensated on abort', async () => {
    const shop = await shopOf();
    let answer: unknown;
    await transact(
      [reversible(shop)],
      async (tx) => {
        answer = await tx.call('shop.order', LAMP);
        expect(shop.orders).toHaveLength(1);
        throw new Error('not that');
      },
      { callTimeoutMs: 20_000 },
    );
    expect(answer).toEqual({ order: 'o1' });
    expect([shop.orders, shop.asked('/cancel')]).toEqual([[], ['GET', 'POST']]);
  });

  describe('the orders of the shop, by sink and fault', () => {
    // The fault, the orders and the unresolved effects: for a blind sink, and for a queryable one.
    test.each<[OrderFault, [number, string[]], [number, string[]]]>([
      ['none', [1, []], [1, []]],
      [422, [0, ['unresolved']], [0, ['unresolved']]],
      ['repeat', [0, ['in_doubt']], [1, []]],
      ['lose_before', [0, ['in_doubt']], [1, []]],
      ['lose', [1, ['in_doubt']], [1, []]],
      ['after', [1, ['in_doubt']], [1, []]],
      ['away', [1, ['in_doubt']], [1, []]],
      ['hang', [1, ['in_doubt']], [1, []]],
    ])('%s once', async (fault, blind, queryable) => {
      for (const [make, expected] of [
        [declared, blind],
        [asked, queryable],
      ] as const) {
        const shop = await shopOf(fault);
        const { left, isCommitted } = await sent(
          make(shop, fault === 'hang' ? { timeoutMs: 5_000 } : {}),
        );
        expect(isCommitted).toBe(true);
        expect([shop.orders.length, left.map(({ phase }) => phase)]).toEqual(expected);
      }
    });
  });

  describe('with marks', () => {
    const done = { css: '#done, #ajax-done' };
    const refused = { css: '#refused, #ajax-no' };

    test.each<[string, OrderFault, string, number, string[]]>([
      ['done', 'none', '/form', 1, []],
      ['refused', 'page', '/form', 0, ['unresolved']],
      ['neither', 'silent', '/form', 1, ['in_doubt']],
      ['done, on the same page', 'none', '/ajax', 1, []],
      ['refused, on the same page', 422, '/ajax', 0, ['unresolved']],
    ])('%s', async (_, fault, path, orders, phases) => {
      const shop = await shopOf(fault);
      const { left } = await sent(
        declared(shop, {
          url: shop.origin + path,
          done,
          refused,
          ...(fault === 'silent' ? { timeoutMs: 1_500 } : {}),
        }),
      );
      expect([shop.orders.length, left.map(({ phase }) => phase)]).toEqual([orders, phases]);
    });

    test('a mark that is already there proves nothing, so nothing is sent', async () => {
      const shop = await shopOf();
      const { left } = await sent(declared(shop, { done: { css: 'form' } }));
      expect([shop.orders, left.map(({ phase }) => phase)]).toEqual([[], ['unresolved']]);
    });
  });

  test.each<[string, string, Partial<SubmitToolOptions>]>([
    ['a button that does nothing', '/dead', { fields: () => [] }],
    ['a question that is not answered', '/confirm', {}],
    ['a page that is not there', '/missing', {}],
    [
      'a field that is not there',
      '/form',
      { fields: () => [{ field: { label: 'Price' }, value: '1' }] },
    ],
    [
      'an option that is not there',
      '/form',
      { fields: () => [{ field: { css: 'select' }, option: '9' }] },
    ],
    ['invalid fields', '/form', { fields: () => [{ field: 'Item', value: 'x' }] as never }],
    ['a button that is not there', '/form', { button: { label: 'Buy' } }],
  ])('%s: nothing was sent, and that is certain', async (_, path, rest) => {
    const shop = await shopOf();
    const { left } = await sent(
      declared(shop, { url: shop.origin + path, timeoutMs: 700, ...rest }),
    );
    expect([shop.orders, shop.asked('/orders'), left.map(({ phase }) => phase)]).toEqual([
      [],
      [],
      ['unresolved'],
    ]);
  });

  test('a refusal proves nothing about an earlier request', async () => {
    const shop = await shopOf('silent', 422);
    const { left } = await sent(declared(shop, { url: `${shop.origin}/double` }));
    expect([
      shop.orders.length,
      shop.asked('/orders').length,
      left.map(({ phase }) => phase),
    ]).toEqual([1, 2, ['in_doubt']]);
  });

  describe('of a site of its own', () => {
    const orderAt = (site: SmallSite, rest: Partial<SubmitToolOptions> = {}) =>
      submitTool({
        name: 'shop.order',
        context: browser.context,
        allow: [site.origin],
        timeoutMs: 3_000,
        input: z.strictObject({}),
        url: `${site.origin}/`,
        fields: () => [],
        button: { css: 'button' },
        ...rest,
      });
    const phasesAt = async (
      site: SmallSite,
      rest: Partial<SubmitToolOptions> = {},
    ): Promise<unknown[]> => {
      const { left } = await transact([orderAt(site, rest)], (tx) => tx.call('shop.order', {}), {
        callTimeoutMs: 20_000,
      });
      return left.map(({ phase }) => phase);
    };

    test('a missing page proves nothing about an earlier effect of a script', async () => {
      const sends = `fetch('/order', { method: 'POST' }).then(() => { location = '/gone'; })`;
      await using site = await SmallSite.open({
        '/': `<button onclick="${sends}">Order</button>`,
        '/order': 'done',
      });
      expect(await phasesAt(site)).toEqual(['in_doubt']);
      expect(site.asked).toEqual(['GET /', 'POST /order', 'GET /gone']);
    });

    test('a refusal counts, even if the page changes its address before it loads', async () => {
      const moves = `history.pushState({}, '', '/pay')`;
      await using site = await SmallSite.open({
        '/': `<form method=post action=/pay onsubmit="${moves}"><button>Order</button></form>`,
        '/pay': '<p id=no>declined</p>',
      });
      for (let times = 0; times < 4; times++)
        expect(await phasesAt(site, { refused: { css: '#no' } })).toEqual(['unresolved']);
      expect(site.posts).toHaveLength(4);
    });

    const shows = `<form method=post action=/pay onsubmit="setTimeout(() => { x.innerHTML = '<b id=thanks>thanks</b>'; }, 300)"><button>Order</button></form><p id=x></p>`;
    test.each<
      [string, (response: ServerResponse) => unknown, Partial<SubmitToolOptions>, string[]]
    >([
      [
        'nothing, and shown',
        (response) => response.writeHead(204).end(),
        { done: { css: '#thanks' } },
        [],
      ],
      [
        'nothing, and refused',
        (response) => response.writeHead(204).end(),
        { refused: { css: '#thanks' }, done: { css: '#no' } },
        ['unresolved'],
      ],
      ['nothing, where nothing is declared', (response) => response.writeHead(204).end(), {}, []],
      [
        'what is to be saved, and shown',
        (response) =>
          response.writeHead(200, { 'content-disposition': 'attachment' }).end('receipt'),
        { done: { css: '#thanks' } },
        [],
      ],
    ])('a form that is answered with %s', async (_, answers, marks, phases) => {
      await using site = await SmallSite.open({
        '/': shows,
        '/pay': (_request, response) => answers(response),
      });
      expect(await phasesAt(site, marks)).toEqual(phases);
      expect(site.posts).toEqual(['POST /pay']);
    });
  });

  test('a question is answered as the declaration says', async () => {
    const shop = await shopOf();
    const { left } = await sent(
      declared(shop, { url: `${shop.origin}/confirm`, dialogs: 'accept' }),
    );
    expect([shop.orders.length, left]).toEqual([1, []]);
  });

  test('a call that takes too long is stopped, and sends nothing afterwards', async () => {
    const shop = await shopOf('hang');
    const { left } = await sent(declared(shop, { timeoutMs: 60_000 }), LAMP, 5_000);
    expect([shop.orders.length, left.map(({ phase }) => phase)]).toEqual([1, ['in_doubt']]);
    const slow = await shopOf();
    const dead = await sent(
      declared(slow, { url: `${slow.origin}/dead`, fields: () => [], timeoutMs: 60_000 }),
      LAMP,
      700,
    );
    expect([slow.orders, slow.asked('/orders'), dead.isCommitted]).toEqual([[], [], true]);
  });

  test('a browser that is gone has done nothing', async () => {
    const shop = await shopOf();
    const gone = async () => Promise.reject(new Error('the browser has gone'));
    const { left } = await sent(declared(shop, { context: gone }));
    expect([shop.requests, left.map(({ phase }) => phase)]).toEqual([[], ['unresolved']]);
  });

  describe('a crash at every step', () => {
    test.each([
      ['blind', declared],
      ['queryable', asked],
    ] as const)('at a %s sink: at most once, and never without a commit', async (sort, make) => {
      const seen = new Set<string>();
      await crashedEverywhere({
        open: () => WebShop.open(),
        tools: (shop) => [make(shop)],
        body: (tx) => tx.call('shop.order', LAMP),
        check: ({ orders }, { isCommitted, left }) => {
          seen.add(`${isCommitted} ${left.length}`);
          expect(orders.length).toBeLessThanOrEqual(isCommitted ? 1 : 0);
          if (!isCommitted || sort === 'queryable') expect(left).toEqual([]);
          if (isCommitted && left.length === 0) expect(orders).toHaveLength(1);
        },
      });
      expect([...seen].toSorted()).toEqual(
        sort === 'blind' ? ['false 0', 'true 0', 'true 1'] : ['false 0', 'true 0'],
      );
    });

    test('of one that can be undone: all or nothing', async () => {
      await crashedEverywhere({
        open: () => WebShop.open(),
        tools: (shop) => [reversible(shop)],
        body: (tx) => tx.call('shop.order', LAMP),
        check: ({ orders }, { isCommitted, left }) => {
          expect(left).toEqual([]);
          expect(orders).toHaveLength(isCommitted ? 1 : 0);
        },
      });
    });
  });
});
