import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { KeyPair } from '#canon';
import { systemClock } from '#oracle';
import { credentialsOf } from '#server';
import { openStore } from '#stores';
import { bundled } from '../support/bundled.ts';
import { agentName, COUNSELORS, ROOT } from './serve-orders.ts';

const program = await bundled(join(import.meta.dirname, 'serve-process.ts'));
const YEAR = '2099-01-01T00:00:00.000000Z';

export interface ServedOptions {
  readonly url: string;
  readonly sinkPort: string;
  readonly agents: number;
  readonly writSeconds?: number;
  readonly leaseMs?: number;
}

/** A server in a process of its own, which can be killed and started again on its port. */
export class Served {
  readonly #options: ServedOptions;
  #child: ChildProcess | undefined;
  #port = 0;

  constructor(options: ServedOptions) {
    this.#options = options;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const { url, sinkPort, agents, writSeconds = 900, leaseMs = 1_000 } = this.#options;
    const args = [url, this.#port, sinkPort, agents, writSeconds, leaseMs].map(String);
    const child = fork(program, args, { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child = child;
    const [said] = await Promise.race([
      once(child, 'message') as Promise<[{ url: string }]>,
      once(child, 'exit').then(([code, signal]) => {
        throw new Error(`the server ended at its start, with ${code ?? signal}`);
      }),
    ]);
    this.#port = Number(new URL(said.url).port);
  }

  /** Ends the process at once, as a crash does. */
  async kill(): Promise<void> {
    if (this.#child === undefined) return;
    const exited = once(this.#child, 'exit');
    if (this.#child.exitCode === null && this.#child.signalCode === null && this.#child.kill('SIGKILL')) await exited;
    this.#child = undefined;
  }

  /** Asks the process to end, and resolves with its exit code and the milliseconds that it took. */
  async stop(): Promise<{ readonly code: number | null; readonly ms: number }> {
    const start = performance.now();
    const exited = once(this.#child!, 'exit');
    this.#child!.kill('SIGTERM');
    const [code] = (await exited) as [number | null];
    return { code, ms: performance.now() - start };
  }

  /** Bytes of the process after a garbage collection. */
  async memory(): Promise<{ readonly rss: number; readonly heapUsed: number }> {
    const answered = once(this.#child!, 'message') as Promise<[{ rss: number; heapUsed: number }]>;
    this.#child!.send('memory');
    return (await answered)[0];
  }
}

/** A token of each principal of the served processes, by name. */
export async function tokensIn(
  url: string,
  agents: number,
  root: KeyPair = ROOT,
): Promise<ReadonlyMap<string, string>> {
  const store = await openStore(url);
  try {
    const { tokens } = credentialsOf(store, root);
    const made = new Map<string, string>();
    const names = [...Array.from({ length: agents }, (_, n) => agentName(n)), ...COUNSELORS, 'human:ada'];
    for (const principal of names) {
      const kinds = ['agent', 'counselor', 'auditor', 'admin'] as const;
      const { token } = await tokens.create({ principal, kinds, created: systemClock.now(), expires: YEAR });
      made.set(principal, token);
    }
    return made;
  } finally {
    await store.close();
  }
}
