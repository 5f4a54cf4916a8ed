/** The processes of the benchmarks over HTTP: servers, and clients beside them. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CellMeasured, CellsTurn } from './cells-clients.ts';
import type { Measured, Turn } from './http-clients.ts';

export const MEMBERS = 1_000;

/** The message of a server that accepts requests. */
export interface Ready {
  readonly port: number;
  readonly token: string;
  readonly readerToken: string;
}

/** A server, or the clients. */
export class BenchProcess {
  readonly #child: ChildProcess;
  readonly ready: Ready | undefined;
  #next = 0;

  static async server(
    kind: 'assize' | 'bare' | 'routed' | 'unrouted' | 'cell',
    ...args: string[]
  ): Promise<BenchProcess> {
    const child = start('./http-server.ts', [kind, ...args]);
    return new BenchProcess(child, await answerOf<Ready>(child));
  }

  static clients(): BenchProcess {
    return new BenchProcess(start('./http-clients.ts', []));
  }

  static cellClients(): BenchProcess {
    return new BenchProcess(start('./cells-clients.ts', []));
  }

  private constructor(child: ChildProcess, ready?: Ready) {
    this.#child = child;
    this.ready = ready;
  }

  /** Sends the requests to the servers in turn. A token of one counts for all. */
  async propose(
    servers: BenchProcess | readonly BenchProcess[],
    clients: number,
    requests: number,
  ): Promise<Measured> {
    const ready = [servers].flat().map((server) => (server as BenchProcess).ready!);
    const ports = ready.map(({ port }) => port);
    const turn: Turn = {
      ports,
      token: ready[0]!.token,
      clients,
      requests,
      members: MEMBERS,
      first: this.#next,
    };
    this.#next += requests;
    this.#child.send(turn);
    return answerOf(this.#child);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Sends requests to several cells at the same time. */
  async proposeToCells(turn: CellsTurn): Promise<readonly CellMeasured[]> {
    this.#child.send(turn);
    return answerOf(this.#child);
  }

  /** After a collection of garbage. */
  async memory(): Promise<{ readonly rss: number; readonly heapUsed: number }> {
    this.#child.send('memory');
    return answerOf(this.#child);
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }
}

function start(file: string, args: readonly string[]): ChildProcess {
  // The log of a server is dropped behind a pipe, as a collector of logs reads it.
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let log = '';
  child
    .stderr!.setEncoding('utf8')
    .on('data', (text: string) => (log = (log + text).slice(-4_000)));
  child.once('exit', (code) => {
    if (code !== 0) console.error(log);
  });
  return child;
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const answered = new AbortController();
  const { signal } = answered;
  const ended = once(child, 'exit', { signal }).then(() => {
    throw new Error('a process of the benchmark has ended');
  });
  const [answer] = (await Promise.race([once(child, 'message', { signal }), ended])) as [T];
  ended.catch(() => undefined);
  answered.abort();
  return answer;
}
