import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The fault of an order. A number: refused with that status, and not executed. `page`: refused by
 * the text of the page. `lose`: executed, and the connection ends. `lose_before`: not executed, and
 * the connection ends. `hang`: executed, and not answered. `after`: executed, and answered with
 * 500. `silent`: executed, and the page reports nothing. `away`: executed, and redirected to
 * another origin. `repeat`: redirected, to be repeated there.
 */
export type OrderFault =
  | 'none'
  | 'page'
  | 'lose'
  | 'lose_before'
  | 'hang'
  | 'after'
  | 'silent'
  | 'away'
  | 'repeat'
  | number;

/** A shop in a browser, on this machine. The shop itself reports its orders. */
export class WebShop implements AsyncDisposable {
  readonly requests: { readonly method: string; readonly path: string }[] = [];
  /** Orders that stand, in their order. */
  readonly orders: {
    readonly id: string;
    readonly item: string;
    readonly amount: string;
    readonly key: string;
  }[] = [];
  /** Of the next orders. */
  readonly faults: OrderFault[] = [];
  /** Another shop's, to be led to. */
  elsewhere = 'http://127.0.0.1:9';
  readonly #server: Server;
  #made = 0;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async open(): Promise<WebShop> {
    const shop = new WebShop();
    shop.#server.listen(0, '127.0.0.1');
    await once(shop.#server, 'listening');
    return shop;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The methods of the requests for a path. */
  asked(path: string): string[] {
    return this.requests.filter((one) => one.path === path).map(({ method }) => method);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const { pathname, searchParams } = new URL(url, this.origin);
    this.requests.push({ method, path: pathname });
    const body = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
    const html = (status: number, text: string): unknown =>
      response
        .writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
        .end(`<!doctype html>${text}`);
    const lead = (status: number, location: string): unknown =>
      response.writeHead(status, { location }).end();
    if (method === 'POST' && pathname === '/orders')
      return void this.#order(request, body, html, lead);
    if (method === 'POST' && pathname === '/cancel') {
      const at = this.orders.findIndex(({ id }) => id === body.get('id'));
      if (at >= 0) this.orders.splice(at, 1);
      return void html(200, '<p id=gone>cancelled</p>');
    }
    if (method !== 'GET') return void html(405, 'no');
    const page = this.#page(pathname, searchParams);
    if (typeof page === 'string') return void html(200, page);
    if (page === undefined) return void html(404, 'there is no such page');
    return void lead(302, page.to);
  }

  #page(path: string, query: URLSearchParams): string | { readonly to: string } | undefined {
    switch (path) {
      case '/':
        return '<title>shop</title><h1>The Shop</h1><a href="/form">order</a><a id=away href="/away">away</a>';
      case '/form':
        return FORM;
      case '/autosave':
        return `${FORM}<script>document.querySelector('#item').addEventListener('input', () => fetch('/autosave', { method: 'POST' }))</script>`;
      case '/chain':
        return { to: '/chain2' };
      case '/chain2':
        return { to: '/form' };
      case '/round':
        return { to: '/round' };
      case '/away':
        return { to: `${this.elsewhere}/` };
      case '/chain-away':
        return { to: '/away' };
      case '/loads':
        return `<img src="${this.elsewhere}/pixel"><img src="/moved-pixel"><iframe src="${this.elsewhere}/"></iframe><p>here</p>`;
      case '/moved-pixel':
        return { to: `${this.elsewhere}/pixel` };
      case '/popup':
        return '<button id=open onclick="window.open(\'/opened\')">open</button><p>here</p>';
      case '/noopener':
        return '<a id=open href="/opened" target="_blank" rel="noopener">open</a>';
      case '/socket':
        return `<p>here</p><script>new WebSocket('${this.origin.replace('http', 'ws')}/ws')</script>`;
      case '/beacon':
        return `<p>here</p><iframe id=other></iframe><script>
          addEventListener('pagehide', () => {
            navigator.sendBeacon('/beacon');
            fetch('/beacon', { method: 'POST', keepalive: true });
            // By the way of a frame, too, and elsewhere.
            for (const view of [window, other.contentWindow]) view.navigator.sendBeacon('${this.elsewhere}/beacon');
          });</script>`;
      case '/leaving':
        return `<p>here</p><iframe src="/nothing"></iframe><script>
          addEventListener('pagehide', () => {
            Object.getPrototypeOf(navigator).sendBeacon.call(navigator, '/beacon');
          });</script>`;
      case '/confirm':
        return FORM.replace('<form', '<form onsubmit="return confirm(\'sure?\')"');
      case '/double':
        return FORM.replace('<form', '<form onsubmit="first()"').concat(`<script>
          function first() {
            const asked = new XMLHttpRequest();
            asked.open('POST', '/orders', false);
            asked.send(new URLSearchParams(new FormData(document.forms[0])));
          }</script>`);
      case '/dead':
        return '<button>Order</button>';
      case '/ajax':
        return `${FORM.replace('<form', '<form onsubmit="event.preventDefault(); send()"')}<p id=said></p><script>
          async function send() {
            const answer = await fetch('/orders', { method: 'POST', body: new URLSearchParams(new FormData(document.forms[0])) });
            said.innerHTML = answer.ok ? '<b id=ajax-done>thanks</b>' : '<b id=ajax-no>no</b>';
          }</script>`;
      case '/made': {
        const order = this.orders.find(({ id }) => id === query.get('id'));
        return `<title>made</title><p id=done>${order?.item ?? 'nothing'}</p>`;
      }
      case '/effects': {
        const order = this.orders.find(({ key }) => key === query.get('key'));
        return order === undefined ? '<p id=none>none</p>' : `<p id=found>${order.id}</p>`;
      }
      case '/cancel':
        return `<form method=post action=/cancel><input type=hidden name=id value="${query.get('id')}"><button>Cancel</button></form>`;
      default:
        return undefined;
    }
  }

  #order(
    request: IncomingMessage,
    body: URLSearchParams,
    html: (status: number, text: string) => unknown,
    lead: (status: number, location: string) => unknown,
  ): void {
    const fault = this.faults.shift() ?? 'none';
    if (typeof fault === 'number') return void html(fault, 'refused');
    if (fault === 'page') return void html(200, '<p id=refused>sold out</p>');
    if (fault === 'repeat') return void lead(307, '/orders');
    if (fault === 'lose_before') return void request.socket.destroy();
    const id = `o${++this.#made}`;
    const text = (name: string): string => body.get(name) ?? '';
    this.orders.push({ id, item: text('item'), amount: text('amount'), key: text('key') });
    if (fault === 'lose') return void request.socket.destroy();
    if (fault === 'hang') return;
    if (fault === 'after') return void html(500, 'oh');
    if (fault === 'silent') return void html(200, '<p>hm</p>');
    if (fault === 'away') return void lead(303, `${this.elsewhere}/made`);
    lead(303, `/made?id=${id}`);
  }
}

const FORM = `<title>order</title><form method=post action=/orders>
<label>Item <input id=item name=item></label>
<label>Amount <select name=amount><option>1<option>2</select></label>
<label><input type=checkbox name=gift value=yes> Gift</label>
<input name=key id=key>
<p id=echo></p>
<button>Order</button></form>
<script>item.addEventListener('input', () => { echo.textContent = 'for ' + item.value; })</script>`;
