import { isAssizeError, thrownText } from '#base';
import { addMicros, type Instant, instantToMillis } from '#canon';
import type { EntryRow, LogStore, SideChange, SideRow, SideStore } from '#ledger';
import type { Clock, Random } from '#oracle';
import { type Notice, noticeOf } from '../notice.ts';
import type { Receiver } from '../receivers.ts';
import {
  bodyOf,
  DELIVERED_KIND,
  type EndedNotice,
  endedKey,
  FAILED_KIND,
  positionOf,
  type QueuedNotice,
  queuedKind,
  valueIn,
} from './delivery-rows.ts';
import { pauseAfter, type RetryPolicy } from './retry-policy.ts';

/** Queued notices of one receiver that are looked at together. */
const WINDOW = 100;

/** Deliveries to one receiver at the same time. */
const AT_ONCE = 4;

/** Ended notices that are removed in one step. */
const PRUNED = 200;

/** Sends one notice, or nothing if the receiver does not need it any more. */
export type Send = (receiver: Receiver, notice: Notice, signal: AbortSignal) => Promise<void>;

export interface DelivererOptions {
  readonly store: LogStore & SideStore;
  readonly receivers: readonly Receiver[];
  readonly send: Send;
  readonly clock: Clock;
  readonly random: Random;
  readonly retry: RetryPolicy;
  /** The time for which a server claims a notice: longer than any attempt takes. */
  readonly claimMs: number;
  /** How long rows of ended notices stay. */
  readonly keptMs: number;
  readonly onFailure: (error: unknown) => void;
  /** Called after a delivery or an attempt, when another one may be possible. */
  readonly onEnded: () => void;
}

/** The counts since the start of a process, and the notices that it saw waiting. */
export interface DeliveryCounts {
  /** At most 100 a receiver are counted. */
  readonly queued: number;
  readonly sending: number;
  readonly delivered: number;
  readonly failed: number;
}

/**
 * Delivers queued notices. A server claims a notice with a lease in its row, so that of several
 * servers normally one sends it. After a crash the lease ends, and another attempt follows.
 */
export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #by: string;
  readonly #sending = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, number>();
  readonly #abort = new AbortController();
  #delivered = 0;
  #failed = 0;
  #isStopping = false;

  constructor(options: DelivererOptions) {
    this.#options = options;
    this.#by = Buffer.from(options.random.bytes(8)).toString('hex');
  }

  get counts(): DeliveryCounts {
    const queued = [...this.#waiting.values()].reduce((sum, count) => sum + count, 0);
    return { queued, sending: this.#sending.size, delivered: this.#delivered, failed: this.#failed };
  }

  /** Begins the deliveries that are due. Returns the milliseconds until the next one is. */
  async begin(): Promise<number> {
    const now = this.#options.clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const receiver of this.#options.receivers) {
      const rows = await this.#options.store.sideList(queuedKind(receiver.id), { limit: WINDOW });
      this.#waiting.set(receiver.id, rows.length);
      for (const row of rows) {
        const name = `${row.kind} ${row.key}`;
        if (this.#isStopping) return next;
        if (this.#sending.has(name)) continue;
        const due = dueAt(valueIn<QueuedNotice>(row));
        if (due > now) next = Math.min(next, instantToMillis(due) - instantToMillis(now) + 1);
        else if (this.#countOf(row.kind) < AT_ONCE) this.#start(name, this.#deliver(receiver, row));
      }
    }
    return next;
  }

  /** Begins no delivery any more, and waits for those that run: at most so long. */
  async stop(limitMs: number): Promise<void> {
    this.#isStopping = true;
    const timer = setTimeout(() => this.#abort.abort(), limitMs);
    await Promise.all(this.#sending.values());
    clearTimeout(timer);
  }

  /** Removes rows of notices that ended long ago. */
  async prune(): Promise<void> {
    const { store, clock, keptMs } = this.#options;
    const before = addMicros(clock.now(), -keptMs * 1_000);
    for (const kind of [DELIVERED_KIND, FAILED_KIND]) {
      const rows = await store.sideList(kind, { limit: PRUNED });
      const old = rows.filter((row) => valueIn<EndedNotice>(row).at < before);
      // Another server may prune the same rows.
      await store.sidePut(old.map(({ key, version }) => ({ kind, key, expected: version, body: null })));
    }
  }

  #countOf(kind: string): number {
    return [...this.#sending.keys()].filter((name) => name.startsWith(`${kind} `)).length;
  }

  #start(name: string, delivery: Promise<void>): void {
    const ended = delivery
      .catch((error: unknown) => this.#options.onFailure(error))
      .finally(() => {
        this.#sending.delete(name);
        this.#options.onEnded();
      });
    this.#sending.set(name, ended);
  }

  async #deliver(receiver: Receiver, row: SideRow): Promise<void> {
    const claimed = await this.#claim(row);
    if (claimed === undefined) return;
    const [entry] = await this.#options.store.logged(positionOf(row), 1);
    const failure = await this.#attempt(receiver, entry);
    if (failure === undefined) await this.#delivery(receiver, claimed);
    else if (this.#abort.signal.aborted) await this.#put(requeued(claimed, {}));
    else await this.#retry(receiver, claimed, failure);
  }

  /** Takes the notice for this server. Undefined if another server was first. */
  async #claim(row: SideRow): Promise<SideRow | undefined> {
    const { store, clock, claimMs } = this.#options;
    const lease = { by: this.#by, until: addMicros(clock.now(), claimMs * 1_000) };
    const body = bodyOf({ ...valueIn<QueuedNotice>(row), lease });
    const { kind, key } = row;
    if (!(await store.sidePut([{ kind, key, expected: row.version, body }]))) return undefined;
    const claimed = await store.sideGet(kind, key);
    const isOwn = claimed !== undefined && valueIn<QueuedNotice>(claimed).lease?.by === this.#by;
    return isOwn ? claimed : undefined;
  }

  /** The reason of a failed attempt; undefined after a delivery. */
  async #attempt(receiver: Receiver, entry: EntryRow | undefined): Promise<{ readonly error: unknown } | undefined> {
    try {
      const notice = entry === undefined ? undefined : noticeOf(entry);
      if (notice !== undefined) await this.#options.send(receiver, notice, this.#abort.signal);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  async #delivery(receiver: Receiver, row: SideRow): Promise<void> {
    const { entry, attempts } = valueIn<QueuedNotice>(row);
    const at = this.#options.clock.now();
    const ended: EndedNotice = { entry, attempts: attempts + 1, at, receiver: receiver.shownAs };
    if (await this.#put([removed(row), endedAs(DELIVERED_KIND, row, receiver, ended)])) this.#delivered += 1;
  }

  async #retry(receiver: Receiver, row: SideRow, { error }: { readonly error: unknown }): Promise<void> {
    const { clock, random, retry, onFailure } = this.#options;
    const { entry, attempts: before } = valueIn<QueuedNotice>(row);
    const attempts = before + 1;
    const at = clock.now();
    onFailure(error);
    if (attempts < retry.attempts) {
      const next = addMicros(at, pauseAfter(attempts, retry, random) * 1_000);
      await this.#put(requeued(row, { attempts, next }));
      return;
    }
    const why = isAssizeError(error) ? error.code : thrownText(error).slice(0, 200);
    const ended: EndedNotice = { entry, attempts, at, receiver: receiver.shownAs, why };
    if (await this.#put([removed(row), endedAs(FAILED_KIND, row, receiver, ended)])) this.#failed += 1;
  }

  #put(changes: readonly SideChange[]): Promise<boolean> {
    return this.#options.store.sidePut(changes);
  }
}

/** The time from which a server may attempt the delivery. */
function dueAt({ next, lease }: QueuedNotice): Instant {
  return lease !== undefined && lease.until > next ? lease.until : next;
}

/** The row without its lease. */
function requeued(row: SideRow, changed: Partial<QueuedNotice>): readonly SideChange[] {
  const { lease: _, ...rest } = valueIn<QueuedNotice>(row);
  const { kind, key, version: expected } = row;
  return [{ kind, key, expected, body: bodyOf({ ...rest, ...changed }) }];
}

function removed({ kind, key, version: expected }: SideRow): SideChange {
  return { kind, key, expected, body: null };
}

function endedAs(kind: string, { key }: SideRow, { id }: Receiver, ended: EndedNotice): SideChange {
  return { kind, key: endedKey(key, id), expected: null, body: bodyOf(ended) };
}
