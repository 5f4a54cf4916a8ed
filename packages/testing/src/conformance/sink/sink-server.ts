import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Behaviour,
  type Effect,
  effectForm,
  type SinkCommand,
  type SinkState,
} from './effect.ts';

const BODY_BYTES_MAX = 1_048_576;

interface Hold {
  readonly call: string;
  readonly release: (take: boolean) => void;
}

/**
 * Takes the effects of tools over HTTP: `POST /effects`. It keeps each in memory and in a file, as
 * it comes. It does not know an approval, and merges no repetition. `get` answers with a value, and
 * `set` with the one before; every value begins as `0`.
 */
export class SinkServer {
  readonly server: Server;
  readonly #file: string;
  readonly #effects: Effect[] = [];
  readonly #arrived: Map<string, number> = new Map();
  readonly #behaviours: Map<string, Behaviour[]> = new Map();
  readonly #holds: Hold[] = [];
  readonly #values: Map<string, string> = new Map();

  /** @param file - gets a line of JSON for each effect */
  constructor(file: string) {
    this.#file = file;
    this.server = createServer((request, response) => {
      void this.#taken(request, response).catch(() => request.socket.destroy());
    });
  }

  do(command: SinkCommand): SinkState {
    if (command.op === 'behave') {
      const { call, behaviour } = command;
      this.#behaviours.set(call, [...(this.#behaviours.get(call) ?? []), behaviour]);
    }
    if (command.op === 'release') {
      const { call, take } = command;
      for (const hold of this.#holds.filter((each) => each.call === call)) {
        this.#holds.splice(this.#holds.indexOf(hold), 1);
        hold.release(take);
      }
    }
    return { effects: [...this.#effects], arrived: Object.fromEntries(this.#arrived) };
  }

  async #taken(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST' || request.url !== '/effects')
      return end(response, 404, 'POST /effects');
    const parsed = effectForm.safeParse(await bodyOf(request));
    if (!parsed.success) return end(response, 400, parsed.error.message);
    const effect = parsed.data;
    const { call } = effect;
    this.#arrived.set(call, (this.#arrived.get(call) ?? 0) + 1);
    const behaviour = this.#behaviours.get(call)?.shift();
    if (behaviour?.does === 'fail') return end(response, 503, 'not now');
    if (behaviour?.does === 'hold' && !(await this.#held(call)))
      return void request.socket.destroy();
    const text = this.#take(effect);
    if (behaviour?.does === 'drop') return void request.socket.destroy();
    if (behaviour?.does === 'late') await pause(behaviour.ms);
    if (behaviour?.does === 'hold-reply') await this.#held(call);
    end(response, 200, text);
  }

  #take(effect: Effect): string {
    const { tool, call, args } = effect;
    const value = this.#values.get(String(args['item'])) ?? '0';
    if (tool === 'get') return value;
    if (tool === 'set') this.#values.set(String(args['item']), String(args['to']));
    appendFileSync(this.#file, `${JSON.stringify(effect)}\n`);
    this.#effects.push(effect);
    return tool === 'set' ? value : `${tool} ${call} is done`;
  }

  #held(call: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#holds.push({ call, release: resolve });
    return promise;
  }
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
}

/** Undefined for a body that is too large or no JSON. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    return undefined;
  }
}
