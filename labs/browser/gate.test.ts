import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../tests/support/cases.ts';
import { Gate, Gates } from './gate.ts';
import { Origins } from './origins.ts';
import type { BrowserContext, BrowserPage, BrowserRoute } from './port.ts';

const SHOP = 'https://shop.example';
const PAGES = [
  `${SHOP}/a`,
  `${SHOP}/b`,
  'https://cdn.example/c',
  'http://shop.example/d',
  'https://evil.example/e',
];
const ALLOWED = new Set([SHOP, 'https://cdn.example']);
const METHODS = ['GET', 'HEAD', 'POST', 'PUT'];

interface Answer {
  readonly status: number;
  readonly to?: string;
}

/**
 * A request that a page makes, answered by a server of ours; it says what was sent, and how it
 * ended.
 */
class FakeRoute implements BrowserRoute {
  readonly sent: { readonly url: string; readonly method: string }[] = [];
  readonly ends: string[] = [];
  readonly #answers: Answer[];
  readonly #made: { readonly url: string; readonly method: string; readonly isDocument: boolean };

  constructor(
    made: { url: string; method: string; isDocument: boolean },
    answers: readonly Answer[] = [],
  ) {
    this.#made = made;
    this.#answers = [...answers];
  }

  request() {
    const { url, method, isDocument } = this.#made;
    const frame = { page: () => PAGE, parentFrame: () => null, url: () => SHOP };
    return {
      url: () => url,
      method: () => method,
      isNavigationRequest: () => isDocument,
      frame: () => frame,
      headers: () => ({}),
    };
  }

  async abort(): Promise<void> {
    this.ends.push('aborted');
  }

  async fulfill(): Promise<void> {
    this.ends.push('shown');
  }

  async fetch({
    url = this.#made.url,
    method = this.#made.method,
  }: {
    url?: string;
    method?: string;
  }) {
    this.sent.push({ url, method });
    const { status, to } = this.#answers.shift() ?? { status: 200 };
    return { status: () => status, headers: () => (to === undefined ? {} : { location: to }) };
  }
}

const PAGE = {} as BrowserPage;
const gate = (): Gate => new Gate(new Origins('browser', [...ALLOWED]), 1_000);

const answer = fc.oneof(
  fc.constantFrom<Answer>({ status: 200 }, { status: 404 }, { status: 500 }, { status: 304 }),
  fc.record({
    status: fc.constantFrom(301, 302, 303, 307, 308),
    to: fc.constantFrom(...PAGES, '/here', 'nonsense:'),
  }),
);
const made = fc.record({
  url: fc.constantFrom(...PAGES, 'data:text/plain,x', 'no url'),
  method: fc.constantFrom(...METHODS),
  isDocument: fc.boolean(),
});
const step = fc.oneof(
  fc.record({ is: fc.constantFrom('act' as const, 'look' as const, 'close' as const) }),
  fc.record({
    is: fc.constant('ask' as const),
    made,
    answers: fc.array(answer, { maxLength: 12 }),
  }),
);

describe('a gate', () => {
  test('passes allowed origins only, reads only before it acts, none once closed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const one = gate();
        let [phase, counted] = ['look', 0];
        for (const each of steps) {
          if (each.is !== 'ask') {
            one[each.is]();
            phase = each.is;
            continue;
          }
          const route = new FakeRoute(each.made, each.answers);
          await one.pass(route);
          expect(route.ends).toHaveLength(1);
          for (const { url, method } of route.sent) {
            expect(ALLOWED.has(new URL(url).origin)).toBe(true);
            if (phase !== 'act') expect(['GET', 'HEAD']).toContain(method);
          }
          if (phase === 'close') expect(route.sent).toEqual([]);
          // A document is never led past the gate, and a deed is never done twice.
          if (each.made.isDocument) expect(route.sent.length).toBeLessThanOrEqual(1);
          expect(
            route.sent.filter(({ method }) => !['GET', 'HEAD'].includes(method)).length,
          ).toBeLessThanOrEqual(1);
          if (phase === 'act' && route.sent.length > 0) counted++;
          expect(one.sent).toBe(counted);
        }
      }),
      { numRuns: cases(500) },
    );
  });

  test('gives the waiting caller the response and its redirect target', async () => {
    const one = gate();
    const asked = (method: string, ...answers: Answer[]) => {
      const answered = one.answered();
      void one.pass(new FakeRoute({ url: `${SHOP}/a`, method, isDocument: true }, answers));
      return answered.catch((error: Error) => error.message);
    };
    expect(await asked('GET', { status: 404 })).toEqual({
      url: `${SHOP}/a`,
      method: 'GET',
      status: 404,
    });
    const elsewhere = 'https://evil.example/';
    expect(await asked('GET', { status: 302, to: elsewhere })).toEqual({
      url: `${SHOP}/a`,
      method: 'GET',
      status: 302,
      next: elsewhere,
    });
    one.act();
    expect(await asked('POST', { status: 307, to: '/b' })).toBe(
      `${SHOP}/a redirects the request to ${SHOP}/b, where it would be repeated`,
    );
  });

  test('follows a script’s request to a page to read, and repeats it nowhere', async () => {
    const one = gate();
    one.act();
    const load = async (status: number): Promise<FakeRoute> => {
      const route = new FakeRoute({ url: `${SHOP}/a`, method: 'POST', isDocument: false }, [
        { status, to: '/b' },
      ]);
      await one.pass(route);
      return route;
    };
    const sent = { url: `${SHOP}/a`, method: 'POST' };
    expect(await load(303)).toMatchObject({
      sent: [sent, { url: `${SHOP}/b`, method: 'GET' }],
      ends: ['shown'],
    });
    expect(await load(307)).toMatchObject({ sent: [sent], ends: ['aborted'] });
  });

  test('hands nothing over as of one origin that another has answered', async () => {
    const one = gate();
    const load = async (...answers: Answer[]): Promise<FakeRoute> => {
      const route = new FakeRoute({ url: `${SHOP}/a`, method: 'GET', isDocument: false }, answers);
      await one.pass(route);
      return route;
    };
    const elsewhere = { status: 302, to: 'https://cdn.example/c' };
    expect(await load(elsewhere)).toMatchObject({
      sent: [{ url: `${SHOP}/a` }],
      ends: ['aborted'],
    });
    expect(await load({ status: 302, to: '/b' }, elsewhere)).toMatchObject({
      sent: [{ url: `${SHOP}/a` }, { url: `${SHOP}/b` }],
      ends: ['aborted'],
    });
    expect(one.refused.at(-1)).toBe(`${SHOP}/b redirects to https://cdn.example/c`);
  });
});

describe('a context', () => {
  /** A context that opens pages and records the handlers that intercept requests. */
  function fakeContext() {
    const routes: ((route: BrowserRoute) => Promise<void>)[] = [];
    const sockets: ((socket: { close(): unknown }) => unknown)[] = [];
    const listeners: ((page: BrowserPage) => unknown)[] = [];
    const context = {
      route: async (_: string, handler: (typeof routes)[number]) => void routes.push(handler),
      routeWebSocket: async (_: string, handler: (typeof sockets)[number]) =>
        void sockets.push(handler),
      addInitScript: async () => undefined,
      on: (_: string, listener: (typeof listeners)[number]) => void listeners.push(listener),
      newPage: async () => PAGE,
    } satisfies BrowserContext;
    return { context, routes, sockets, listeners };
  }

  test('is guarded once, and a page without a gate sends nothing', async () => {
    const { context, routes, sockets } = fakeContext();
    const [gates, again] = [await Gates.in(context), await Gates.in(context)];
    expect([again === gates, routes.length, sockets.length]).toEqual([true, 1, 1]);
    const ask = async (): Promise<FakeRoute> => {
      const route = new FakeRoute({ url: `${SHOP}/a`, method: 'GET', isDocument: false });
      await routes[0]!(route);
      return route;
    };
    expect(await ask()).toMatchObject({ sent: [], ends: ['aborted'] });
    expect(await gates.open(context, gate())).toBe(PAGE);
    expect(await ask()).toMatchObject({ sent: [{ method: 'GET' }], ends: ['shown'] });
    gates.delete(PAGE);
    expect(await ask()).toMatchObject({ sent: [], ends: ['aborted'] });
    let closed = 0;
    sockets[0]!({ close: () => closed++ });
    expect(closed).toBe(1);
  });

  test('closes the pages that no caller requested', async () => {
    const { context, listeners } = fakeContext();
    const gates = await Gates.in(context);
    let closed = 0;
    const popup = { close: async () => void closed++ } as unknown as BrowserPage;
    const opening = gates.open(context, gate());
    await Promise.all([listeners[0]!(PAGE), listeners[0]!(popup), opening]);
    expect(closed).toBe(1);
  });
});
