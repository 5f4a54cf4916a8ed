import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { seededNumbers } from '../../packages/testing/src/faults.ts';

/**
 * The fates of a commit on its way:
 * - `torn`: the server receives the start of the statement, and then the connection is gone.
 * - `half-open`: the server has the statement. The caller loses the connection immediately, and the
 *   server receives no notice.
 * - `late`: as half-open, and the statement reaches the server only when the caller may have asked
 *   for the outcome.
 * - `unheard`: the server has answered, and the answer is lost with the connection.
 * - `withheld`: the same, or earlier: the connection is cut a moment later, at any progress of the
 *   server.
 * - `silent`: the server has the statement. The caller receives nothing more over a connection that
 *   stays open.
 */
const FATES = ['torn', 'half-open', 'late', 'unheard', 'withheld', 'silent'] as const;
export type Fate = (typeof FATES)[number];

/** The call as it stands in what the driver sends. */
const COMMIT = 'assize append';

/** Of so many commits, one meets with a fate. */
const COMMITS_A_FATE = 20;
const CUT_EVERY_MS_MAX = 400;
const WITHHELD_MS_MAX = 50;
const LATE_MS_MAX = 200;
/**
 * Maximum time that a server keeps a half-open connection. A store that settles its doubts ends the
 * backend before.
 */
const HALF_OPEN_MS_MAX = 3_000;

/**
 * A relay on loopback that loses commits, and now and then any connection, as its seed determines.
 */
export class CuttingRelay {
  /** How often each has happened; `cut`: at a moment that has nothing to do with a commit. */
  readonly counts: Record<Fate | 'cut', number> = {
    torn: 0,
    'half-open': 0,
    late: 0,
    unheard: 0,
    withheld: 0,
    silent: 0,
    cut: 0,
  };
  readonly #server: Server;
  readonly #target: number;
  readonly #next: (below: number) => number;
  readonly #lines = new Set<Line>();
  #isCalm = true;
  #timer: NodeJS.Timeout | undefined;

  private constructor(target: number, seed: number) {
    this.#target = target;
    this.#next = seededNumbers(seed);
    this.#server = createServer((client) => this.#relay(client));
  }

  /** Calm until `rage` is called. */
  static async start(target: number, seed: number): Promise<CuttingRelay> {
    const relay = new CuttingRelay(target, seed);
    await once(relay.#server.listen(0, '127.0.0.1'), 'listening');
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that at least one side still has. */
  get lines(): number {
    return this.#lines.size;
  }

  rage(): void {
    this.#isCalm = false;
    this.#timer = setTimeout(() => {
      const line = [...this.#lines][this.#next(Math.max(1, this.#lines.size))];
      if (line !== undefined) {
        this.counts.cut += 1;
        if (this.#next(3) === 0) line.halve(this.#next(HALF_OPEN_MS_MAX));
        else line.cut();
      }
      this.rage();
    }, this.#next(CUT_EVERY_MS_MAX));
  }

  /** Nothing more is lost over connections that are whole. */
  calm(): void {
    this.#isCalm = true;
    clearTimeout(this.#timer);
  }

  async stop(): Promise<void> {
    this.calm();
    for (const line of this.#lines) line.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #relay(client: Socket): void {
    const line = new Line(client, connect(this.#target, '127.0.0.1'), () =>
      this.#lines.delete(line),
    );
    this.#lines.add(line);
    client.on('data', (data) => {
      const meets = !this.#isCalm && data.includes(COMMIT) && this.#next(COMMITS_A_FATE) === 0;
      if (!meets) {
        line.send(data);
        return;
      }
      const fate = FATES[this.#next(FATES.length)]!;
      this.counts[fate] += 1;
      this.#lose(line, data, fate);
    });
  }

  #lose(line: Line, data: Buffer, fate: Fate): void {
    if (fate === 'torn') {
      line.send(data.subarray(0, 1 + this.#next(data.length - 1)));
      line.cut();
      return;
    }
    if (fate === 'late') {
      line.halve(LATE_MS_MAX + this.#next(HALF_OPEN_MS_MAX));
      setTimeout(() => line.send(data), this.#next(LATE_MS_MAX)).unref();
      return;
    }
    line.send(data);
    if (fate === 'half-open') line.halve(this.#next(HALF_OPEN_MS_MAX));
    else line.deafen(fate === 'unheard');
    if (fate === 'withheld') setTimeout(() => line.cut(), this.#next(WITHHELD_MS_MAX)).unref();
  }
}

/** A connection of a caller, and the one to the server that stands for it. */
class Line {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #gone: () => void;
  #isDeaf = false;
  #isHalf = false;
  #cutsAtAnswer = false;

  constructor(client: Socket, server: Socket, gone: () => void) {
    this.#client = client;
    this.#server = server;
    this.#gone = gone;
    server.on('data', (data) => this.#answer(data));
    // An error ends a connection. The end is reported next.
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('close', () => this.#ended());
    server.on('close', () => this.cut());
  }

  send(data: Buffer): void {
    this.#server.write(data);
  }

  /**
   * From now on the caller receives nothing. `cutsAtAnswer`: it also loses the connection at the
   * server's next output.
   */
  deafen(cutsAtAnswer: boolean): void {
    this.#isDeaf = true;
    this.#cutsAtAnswer = cutsAtAnswer;
  }

  /** The caller loses the connection, and the server keeps it for a while. */
  halve(keepMs: number): void {
    this.#isHalf = true;
    this.#client.resetAndDestroy();
    setTimeout(() => this.cut(), keepMs).unref();
  }

  /** Data sent before still reaches the server. */
  cut(): void {
    this.#client.resetAndDestroy();
    if (this.#server.connecting) this.#server.destroy();
    else this.#server.destroySoon();
    this.#gone();
  }

  #answer(data: Buffer): void {
    if (!this.#isDeaf) this.#client.write(data);
    else if (this.#cutsAtAnswer) this.cut();
  }

  #ended(): void {
    if (!this.#isHalf) this.cut();
  }
}
