import { CHECK_MS } from '@assize/command/operation';
import { type EntryRow, settlementArgs } from 'assize/internal/ledger';
import { type Ruling, rulingFrom } from 'assize/internal/runtime';
import { readable, rulingView, summaryOf } from 'assize/internal/views';
import { isLost } from '../principals/standings.ts';
import type { EntryText, LoggedEntry, LogTail, News } from './log-tail.ts';

/** Selects the entries of a stream. */
export interface EventFilter {
  readonly trajectory?: string | undefined;
  readonly kind?: string | undefined;
}

export interface EventStreamOptions {
  readonly filter: EventFilter;
  /** The position of the first entry. */
  readonly from: number;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** Breaks the connection of a reader that takes nothing. */
  readonly cut: () => void;
  /** Called once, when the stream has ended for any reason. */
  readonly onEnd: () => void;
  readonly onFailure: (error: unknown) => void;
  /**
   * Rejects when the reader may no longer read; this ends the stream. Asked before events are
   * sent, and while there are none.
   */
  readonly requireStanding: () => Promise<void>;
  /** Milliseconds between two signs of life. Default 2 s. */
  readonly keepAliveMs?: number;
  /** Milliseconds between two checks of the reader while there are no events. Default 5 s. */
  readonly standingMs?: number;
}

/** Keeps idle connections open, and lets a page see that the server hangs. */
const KEEP_ALIVE = 'event: alive\ndata: {}\n\n';
const KEEP_ALIVE_MS = 2_000;
/**
 * A reader that takes nothing for this many signs of life is cut. It continues from its last id.
 */
const STALLS_MAX = 30;

/**
 * Server-sent events of the log: one for each entry, with its position as the id. A client that
 * reconnects with its last id misses no entry. The stream reads when its reader does, so a slow
 * reader has at most a page of entries in memory.
 */
export function eventStream(
  tail: LogTail,
  options: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const reader = new EventReader(tail, options);
  // The first read is the client's, and nothing is read ahead of it.
  return new ReadableStream(
    {
      pull: async (controller) => {
        const text = await reader.next();
        if (text === undefined) controller.close();
        else controller.enqueue(encoder.encode(text));
      },
      cancel: () => reader.end(),
    },
    { highWaterMark: 0 },
  );
}

const encoder = new TextEncoder();

class EventReader {
  readonly #tail: LogTail;
  readonly #options: EventStreamOptions;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #leave: () => void;
  #position: number;
  #hasBegun = false;
  #hasEnded = false;
  #hasNews = true;
  #isAlive = true;
  #stalls = 0;
  #isUnchecked = false;
  /** Continues a read that waits for news. */
  #continue: (() => void) | undefined;

  constructor(tail: LogTail, options: EventStreamOptions) {
    const { from, signal, keepAliveMs = KEEP_ALIVE_MS, standingMs = CHECK_MS } = options;
    this.#tail = tail;
    this.#options = options;
    this.#position = from;
    this.#leave = tail.listen(this.#hear);
    this.#timers = [
      setInterval(this.#tick, keepAliveMs).unref(),
      setInterval(this.#check, standingMs).unref(),
    ];
    signal.addEventListener('abort', this.end);
    if (signal.aborted) this.end();
  }

  /** The next events, or a sign of life. Undefined when the stream has ended. */
  async next(): Promise<string | undefined> {
    this.#stalls = 0;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      return `retry: 1000\nevent: ready\nid: ${this.#position - 1}\ndata: {}\n\n`;
    }
    try {
      while (!this.#hasEnded) {
        const text = await this.#events();
        if (text !== '') {
          await this.#options.requireStanding();
          return text;
        }
        if (!this.#isAlive) {
          this.#isAlive = true;
          return KEEP_ALIVE;
        }
        if (!this.#hasNews) await this.#news();
      }
    } catch (error) {
      if (!isLost(error)) this.#options.onFailure(error);
      this.end();
    }
    return undefined;
  }

  readonly end = (): void => {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#leave();
    this.#options.signal.removeEventListener('abort', this.end);
    this.#options.onEnd();
    this.#continue?.();
  };

  async #events(): Promise<string> {
    this.#hasNews = false;
    const from = this.#position;
    const entries = await this.#tail.read(from);
    if (entries.length === 0) return '';
    this.#hasNews = true;
    this.#position = Math.max(this.#position, from + entries.length);
    const wanted = entries.filter((entry) => matches(entry, this.#options.filter));
    const texts = await Promise.all(
      wanted.map(({ text }) => (typeof text === 'string' ? text : text())),
    );
    return texts.join('');
  }

  async #news(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#continue = resolve;
    await promise;
    this.#continue = undefined;
  }

  /** An idle stream passes by the entries of other trajectories without a read. */
  readonly #hear = ({ from, to, trajectories }: News): void => {
    const { trajectory } = this.#options.filter;
    if (
      from === this.#position &&
      trajectory !== undefined &&
      trajectories?.has(trajectory) === false
    ) {
      this.#position = to;
      return;
    }
    this.#hasNews = true;
    this.#continue?.();
  };

  /** A store that does not answer ends nothing: without a check nothing is sent either. */
  readonly #check = (): void => {
    this.#options.requireStanding().then(
      () => {
        this.#isUnchecked = false;
      },
      (error: unknown) => {
        if (isLost(error)) this.#lose();
        else if (!this.#isUnchecked) this.#options.onFailure(error);
        this.#isUnchecked = true;
      },
    );
  };

  /** A reader that waits for events gets the end of the stream. Another one may never ask again. */
  #lose(): void {
    const isWaiting = this.#continue !== undefined;
    this.end();
    if (!isWaiting) this.#options.cut();
  }

  readonly #tick = (): void => {
    this.#isAlive = false;
    this.#continue?.();
    this.#stalls += 1;
    if (this.#stalls <= STALLS_MAX) return;
    this.end();
    this.#options.cut();
  };
}

function matches({ trajectoryId, kind }: LoggedEntry, filter: EventFilter): boolean {
  return (
    (filter.trajectory === undefined || filter.trajectory === trajectoryId) &&
    (filter.kind === undefined || filter.kind === kind)
  );
}

/** The rulings that events show. */
export interface EventRulings {
  /** The ruling of an entry, with the outcomes of its calls now. */
  readonly at: (row: EntryRow) => Promise<Ruling>;
  readonly entry: (id: string) => Promise<EntryRow | undefined>;
}

/**
 * One event. Its name is the kind of the entry. Its data are the summary of the entry and its
 * ruling, how many keys of the memory a commit changes, and the rulings whose calls it settles. The
 * outcomes of calls are those of the time at which the event is sent.
 */
export function eventOf(position: number, row: EntryRow, rulings: EventRulings): EntryText {
  const payload = readable(row)?.payload;
  const beliefs = payload?.kind === 'commit' ? payload.delta.beliefs.length : 0;
  const told = {
    trajectory_id: row.trajectory_id,
    ...summaryOf(row),
    ...(beliefs > 0 && { beliefs }),
  };
  const text = (ruling?: Ruling, settled: readonly Ruling[] = []): string => {
    const more = {
      ...(ruling && rulingView(ruling)),
      ...(settled.length > 0 && { settled: settled.map(rulingView) }),
    };
    return `id: ${position}\nevent: ${row.kind}\ndata: ${JSON.stringify({ ...told, ...more })}\n\n`;
  };
  if (payload === undefined || !RULED.has(payload.kind)) return text();
  const commits = settlementArgs(payload)?.settled.map(({ commit }) => commit) ?? [];
  const isMoving =
    (payload.kind === 'commit' && payload.delta.effects.length > 0) || commits.length > 0;
  if (!isMoving && !('resolves' in payload)) return text(rulingFrom(row, payload));
  return async () => {
    const settled = (await Promise.all(commits.map(rulings.entry))).filter(
      (found) => found !== undefined,
    );
    return text(await rulings.at(row), await Promise.all(settled.map(rulings.at)));
  };
}

const RULED: ReadonlySet<string> = new Set(['commit', 'rejection', 'pending_approval']);
