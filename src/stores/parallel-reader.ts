import { once } from 'node:events';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { form, requireForm } from '#base';
import { type Ahead, PAGE, pageAt, type RowRange, type Run } from '#ledger';

/** What the worker is given. */
export interface AheadTask {
  /** Of the store, which it opens for reading only. */
  readonly url: string;
  readonly ranges: readonly RowRange[];
  /** One number: how far the reader is. */
  readonly reached: Int32Array;
  readonly port: MessagePort;
}

/** What it answers with, page by page. */
export interface CheckedPage {
  readonly trajectoryId: string;
  readonly from: number;
  readonly runs: Run[];
}

const RANGE = form.members({ trajectory_id: form.text, entries: form.whole, position: form.whole });

/**
 * Checks a store from another thread (`ahead-worker.ts`) while it is read from the front in this one.
 *
 * @throws ArgumentError `bad_argument`
 */
export function checkAhead(url: string, ranges: readonly RowRange[]): Ahead {
  requireForm(form.list(RANGE), ranges, 'ranges');
  return new AheadThread(url, ranges);
}

class AheadThread implements Ahead {
  readonly #reached: Int32Array = new Int32Array(new SharedArrayBuffer(4));
  readonly #port: MessagePort;
  readonly #ended: Promise<unknown>;
  readonly #pages: Map<string, Run[]> = new Map();

  constructor(url: string, ranges: readonly RowRange[]) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const task: AheadTask = { url, ranges, reached: this.#reached, port: port2 };
    const worker = new Worker(workerFile(), {
      workerData: task,
      transferList: [port2],
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    // A thread that fails hands nothing over, and the reader checks all by itself: it also finds out why, if it matters.
    this.#ended = once(worker, 'exit').catch(() => undefined);
  }

  at(trajectoryId: string, seq: number): Run | number {
    this.#receive();
    const place = pageKey(trajectoryId, pageStart(seq));
    const runs = this.#pages.get(place);
    while (runs !== undefined && runs.length > 0 && runs[0]!.seq < seq) runs.shift();
    const next = runs?.[0];
    // What was handed over is not kept: a whole ledger would not fit.
    if (next?.seq === seq) runs!.shift();
    if (runs?.length === 0) this.#pages.delete(place);
    if (next === undefined) return pageAt(seq);
    return next.seq === seq ? next : next.seq - seq;
  }

  reached(position: number): void {
    Atomics.store(this.#reached, 0, Math.min(position, FAR));
    Atomics.notify(this.#reached, 0);
  }

  async close(): Promise<void> {
    this.reached(FAR);
    await this.#ended;
    this.#port.close();
  }

  #receive(): void {
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port)) {
      const { trajectoryId, from, runs } = got.message as CheckedPage;
      this.#pages.set(pageKey(trajectoryId, from), runs);
    }
  }
}

/** For what the thread throws away; left to itself it takes several times as much and is no faster. */
const YOUNG_MB = 24;

/** Further than any entry: the reader has come to its end. */
export const FAR: number = 2 ** 31 - 1;

function pageKey(trajectoryId: string, from: number): string {
  return `${from} ${trajectoryId}`;
}

function pageStart(seq: number): number {
  return seq === 0 ? 0 : seq - ((seq - 1) % PAGE);
}

/** The worker beside this file: a source in the repository, JavaScript in the package. */
function workerFile(): URL {
  return new URL(`./parallel-reader-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
