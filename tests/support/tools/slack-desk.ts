import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const TOKEN = 'xoxb-a-token-of-a-bot';
export const SIGNING_SECRET = 'a-signing-secret-of-32-characters';
export const TEAM = 'T0DESK';

/** A message of a channel as the stand-in keeps it. */
export interface SlackMessage {
  readonly ts: string;
  readonly body: any;
}

/** The parts of a click that a test changes. */
export interface Pressing {
  readonly user?: string;
  readonly team?: string;
  readonly secret?: string;
  readonly signature?: string;
  readonly seconds?: number;
  readonly value?: string;
  readonly headers?: Record<string, string>;
}

/** A stand-in for Slack on this machine, by its published formats: the Web API and its clicks. */
export class SlackDesk implements AsyncDisposable {
  readonly messages: Map<string, SlackMessage> = new Map();
  readonly calls: { readonly method: string; readonly body: any }[] = [];
  /** Answers in place of the stand-in's own, by method. Undefined: none at all. */
  readonly faults: Map<string, { readonly status: number; readonly body: string } | undefined> =
    new Map();
  /** Requests of a method wait for this before they count. */
  readonly held: Map<string, Promise<void>> = new Map();
  arrived = 0;
  readonly #server: Server;
  #next = 1;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      let text = '';
      for await (const part of request) text += part;
      const method = (request.url ?? '').replace('/api/', '');
      this.arrived += 1;
      await this.held.get(method);
      const answer =
        request.headers.authorization === `Bearer ${TOKEN}`
          ? this.#answer(method, JSON.parse(text))
          : { ok: false, error: 'invalid_auth' };
      const fault = this.faults.get(method);
      if (this.faults.has(method) && fault === undefined) return;
      response
        .writeHead(fault?.status ?? 200, { 'content-type': 'application/json' })
        .end(fault?.body ?? JSON.stringify(answer));
    });
  }

  static async open(): Promise<SlackDesk> {
    const desk = new SlackDesk();
    await once(desk.#server.listen(0, '127.0.0.1'), 'listening');
    return desk;
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/`;
  }

  #answer(method: string, body: any): object {
    this.calls.push({ method, body });
    if (method === 'chat.postMessage') {
      const ts = `17000000${this.#next++}.000100`;
      this.messages.set(ts, { ts, body });
      return { ok: true, channel: body.channel, ts };
    }
    if (method === 'chat.update') {
      if (!this.messages.has(body.ts)) return { ok: false, error: 'message_not_found' };
      this.messages.set(body.ts, { ts: body.ts, body });
    }
    if (method === 'chat.delete') this.messages.delete(body.ts);
    return { ok: true, channel: body.channel, ts: body.ts };
  }

  of(method: string): any[] {
    return this.calls.filter((one) => one.method === method).map(({ body }) => body);
  }

  /** The cards of the channel, in the order of their posting. */
  get cards(): SlackMessage[] {
    return [...this.messages.values()].filter(({ body }) => body.thread_ts === undefined);
  }

  /** Presses a button of a message, as Slack's clients and servers do. */
  press(url: string, message: SlackMessage, action: string, how: Pressing = {}): Promise<Response> {
    const { user = 'U0ADA', team = TEAM } = how;
    const button = buttonsIn(message).find(({ action_id }) => action_id === action);
    return this.send(
      url,
      {
        ...{ type: 'block_actions', user: { id: user, username: 'x', team_id: team } },
        ...{
          team: { id: team, domain: 'desk' },
          api_app_id: 'A0',
          token: 'old',
          trigger_id: 't.1',
        },
        container: { type: 'message', message_ts: message.ts, channel_id: 'C0DESK' },
        channel: { id: 'C0DESK', name: 'approvals' },
        message: { ...message.body, ts: message.ts },
        response_url: `${this.apiUrl}response`,
        actions: [
          { action_id: action, ...button, value: how.value ?? button?.value, action_ts: '1' },
        ],
      },
      how,
    );
  }

  /** Sends the answer to the last form that was opened. */
  submit(url: string, reason: string, how: Pressing = {}): Promise<Response> {
    const { user = 'U0ADA', team = TEAM } = how;
    const { view } = this.of('views.open').at(-1);
    const [{ block_id, element }] = view.blocks;
    const values = { [block_id]: { [element.action_id]: { type: element.type, value: reason } } };
    return this.send(
      url,
      {
        ...{ type: 'view_submission', user: { id: user, name: 'x', team_id: team } },
        ...{ team: { id: team, domain: 'desk' }, api_app_id: 'A0', trigger_id: 't.2' },
        view: { ...view, id: 'V1', state: { values } },
      },
      how,
    );
  }

  async send(url: string, payload: unknown, how: Pressing = {}): Promise<Response> {
    const { secret = SIGNING_SECRET, seconds = Math.floor(Date.now() / 1_000), headers } = how;
    const body = new URLSearchParams({
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    }).toString();
    const hmac = createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex');
    return fetch(`${url}/v1/chat/slack`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': String(seconds),
        'x-slack-signature': how.signature ?? `v0=${hmac}`,
        ...headers,
      },
      body,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function buttonsIn({ body }: SlackMessage): any[] {
  return body.blocks.flatMap((block: any) => (block.type === 'actions' ? block.elements : []));
}
