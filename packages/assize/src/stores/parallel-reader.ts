import { once } from 'node:events';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import { arg, checkArgument } from '#base';
import { PAGE, type ParallelReader, pageAt, type RowRange, type VerifiedRun } from '#ledger';

/** A store as a worker opens it. */
export interface StoreName {
  readonly url: string;
  readonly archive: string | undefined;
  readonly rootKeys: readonly string[] | undefined;
}

/** The input of the worker. */
export interface ParallelReadTask {
  /** The store that the worker opens as read-only. */
  readonly store: StoreName;
  readonly ranges: readonly RowRange[];
  /** One number: the position of the reader. */
  readonly reached: Int32Array;
  readonly port: MessagePort;
}

/** The worker's answer for one page. */
export interface CheckedPage {
  readonly trajectoryId: string;
  readonly from: number;
  readonly runs: VerifiedRun[];
}

const RANGE = arg.members({ trajectory_id: arg.text, entries: arg.whole, position: arg.whole });

/**
 * Checks a store in a worker thread (`parallel-reader-worker.ts`) while this thread reads the store
 * from the front.
 *
 * @throws ArgumentError `bad_argument`
 */
export function readInParallel(store: StoreName, ranges: readonly RowRange[]): ParallelReader {
  checkArgument(arg.list(RANGE), ranges, 'ranges');
  return new ParallelReaderThread(store, ranges);
}

class ParallelReaderThread implements ParallelReader {
  readonly #reached: Int32Array = new Int32Array(new SharedArrayBuffer(4));
  readonly #port: MessagePort;
  readonly #ended: Promise<unknown>;
  readonly #pages: Map<string, VerifiedRun[]> = new Map();

  constructor(store: StoreName, ranges: readonly RowRange[]) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const task: ParallelReadTask = { store, ranges, reached: this.#reached, port: port2 };
    // A failed or missing worker sends no pages. The reader then checks every row itself and
    // reports a cause that matters.
    this.#ended = endOf(
      () =>
        new Worker(new URL('./parallel-reader-worker.ts', import.meta.url), {
          workerData: task,
          transferList: [port2],
          execArgv: [],
          resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
        }),
    );
  }

  at(trajectoryId: string, seq: number): VerifiedRun | number {
    this.#receive();
    const place = pageKey(trajectoryId, pageStart(seq));
    const runs = this.#pages.get(place);
    while (runs !== undefined && runs.length > 0 && runs[0]!.seq < seq) runs.shift();
    const next = runs?.[0];
    // Delivered runs are removed, because a whole ledger would not fit in memory.
    if (next?.seq === seq) runs!.shift();
    if (runs?.length === 0) this.#pages.delete(place);
    if (next === undefined) return pageAt(seq);
    return next.seq === seq ? next : next.seq - seq;
  }

  reached(position: number): void {
    Atomics.store(this.#reached, 0, Math.min(position, READER_DONE));
    Atomics.notify(this.#reached, 0);
  }

  async close(): Promise<void> {
    this.reached(READER_DONE);
    await this.#ended;
    this.#port.close();
  }

  #receive(): void {
    for (
      let got = receiveMessageOnPort(this.#port);
      got !== undefined;
      got = receiveMessageOnPort(this.#port)
    ) {
      const { trajectoryId, from, runs } = got.message as CheckedPage;
      this.#pages.set(pageKey(trajectoryId, from), runs);
    }
  }
}

/** Resolves when the worker has ended, or immediately if it cannot start. */
async function endOf(started: () => Worker): Promise<unknown> {
  return new Promise((resolve) => resolve(once(started(), 'exit'))).catch(() => undefined);
}

/**
 * The size of the worker's young generation in MB. The default takes several times this memory and
 * is not faster.
 */
const YOUNG_MB = 24;

/** A position beyond every entry: the reader has ended. */
export const READER_DONE: number = 2 ** 31 - 1;

function pageKey(trajectoryId: string, from: number): string {
  return `${from} ${trajectoryId}`;
}

function pageStart(seq: number): number {
  return seq === 0 ? 0 : seq - ((seq - 1) % PAGE);
}
