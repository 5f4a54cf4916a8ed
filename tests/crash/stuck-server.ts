import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '#oracle';
import { credentialsOf } from '#server';
import { openStore } from '#stores';
import { bundled } from '../support/bundled.ts';
import type { Answer } from './serve-clients.ts';
import { ROOT } from './serve-orders.ts';

const PROCESS = await bundled(join(import.meta.dirname, 'stuck-serve-process.ts'));
const LIMIT_MS = 400;
const YEAR = '2099-01-01T00:00:00.000000Z';
const KINDS = { 'agent:a': ['agent'], 'boss:b': ['counselor'], 'admin:c': ['admin', 'auditor'] } as const;

export type Caller = keyof typeof KINDS;

/** Tokens of the three principals, which count at every server of the store. */
export async function tokensAt(url: string): Promise<ReadonlyMap<Caller, string>> {
  const store = await openStore(url);
  const { tokens } = credentialsOf(store, ROOT);
  const made = new Map<Caller, string>();
  for (const [principal, kinds] of Object.entries(KINDS)) {
    const created = systemClock.now();
    const { token } = await tokens.create({ principal, kinds: [...kinds], created, expires: YEAR });
    made.set(principal as Caller, token);
  }
  await store.close();
  return made;
}

/** A server that is started again on its port each time that its watchdog ends it. */
export class StuckServer {
  readonly #url: string;
  readonly #tokens: ReadonlyMap<Caller, string>;
  #child: ChildProcess | undefined;
  #origin = '';
  #isStopping = false;
  #ready: Promise<void> = Promise.resolve();
  #errors = '';
  poison = '';
  /** How often the watchdog has ended it. */
  ended = 0;

  constructor(url: string, tokens: ReadonlyMap<Caller, string>) {
    this.#url = url;
    this.#tokens = tokens;
    onTestFinished(() => {
      this.#isStopping = true;
      this.#child?.kill('SIGKILL');
    });
  }

  /** The runs that its watchdog has named, and null where it named none. */
  get named(): readonly any[] {
    const lines = this.#errors.split('\n').filter((line) => line.includes('"event":"stuck"'));
    return lines.map((line) => JSON.parse(line).run ?? null);
  }

  /** Resolves when the server accepts requests, also if it had to start more than once. */
  start(): Promise<void> {
    this.#isStopping = false;
    this.#ready = this.#launch();
    return this.#ready;
  }

  async #launch(): Promise<void> {
    const port = this.#origin === '' ? '0' : new URL(this.#origin).port;
    const child = fork(PROCESS, [this.#url, port, String(LIMIT_MS), this.poison], {
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    this.#child = child;
    child.stderr?.on('data', (data) => {
      this.#errors += String(data);
    });
    const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
    const said = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
    void exited.then(([code, signal]) => {
      if (this.#isStopping) return;
      if (code !== 86 && signal !== 'SIGKILL') throw new Error(`the server ended with ${code}: ${this.#errors}`);
      this.ended += 1;
      if (said !== undefined) this.#ready = this.#launch();
    });
    if (said === undefined) return this.#launch();
    this.#origin = (said[0] as { url: string }).url;
  }

  async stop(): Promise<void> {
    await this.#ready;
    this.#isStopping = true;
    const exited = once(this.#child as ChildProcess, 'exit');
    this.#child?.kill('SIGTERM');
    await exited;
  }

  /** Asks once. @throws where no answer came */
  async ask(as: Caller, method: string, path: string, body?: object, key?: string, wait = 0): Promise<Answer> {
    await this.#ready;
    const response = await fetch(`${this.#origin}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#tokens.get(as)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(wait > 0 && { prefer: `wait=${wait}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }
}

/** Asks one server after the other, until one answers. */
export async function insist(
  servers: readonly StuckServer[],
  ...asked: Parameters<StuckServer['ask']>
): Promise<Answer> {
  for (let n = 0; ; n += 1) {
    try {
      return await (servers[n % servers.length] as StuckServer).ask(...asked);
    } catch (error) {
      if (n > 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
