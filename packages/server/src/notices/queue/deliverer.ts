import { isAssizeError, isInstance } from 'assize/internal/base';
import { addMicros, type Instant, instantToMillis } from 'assize/internal/canon';
import type { LogStore, SideChange, SideRow, SideStore } from 'assize/internal/ledger';
import type { Clock, Random } from 'assize/internal/oracle';
import { NoticeError } from '../errors.ts';
import { type ApprovalRequested, type Notice, noticeOf } from '../notice.ts';
import type { Receiver } from '../receivers.ts';
import {
  bodyOf,
  DELIVERED_KIND,
  type EndedNotice,
  endedKey,
  FAILED_KIND,
  positionOf,
  queued,
  reminderKind,
  removed,
  timeOf,
  valueIn,
  type WaitingNotice,
  waitingKey,
  waitingKind,
} from './delivery-rows.ts';
import { pauseAfter, type RetryPolicy } from './retry-policy.ts';

/** Deliveries to one receiver at the same time. */
const AT_ONCE = 4;

/** Sends one notice, or nothing if the receiver does not need it. Returns whether it did. */
export type Send = (receiver: Receiver, notice: Notice, signal: AbortSignal) => Promise<boolean>;

export interface DelivererOptions {
  readonly store: LogStore & SideStore;
  readonly receivers: readonly Receiver[];
  readonly send: Send;
  readonly clock: Clock;
  readonly random: Random;
  readonly retry: RetryPolicy;
  /** The time for which a server claims a notice: longer than any attempt takes. */
  readonly claimMs: number;
  /** The time before the end of a request when its reminder is due. */
  readonly reminderMs: number | undefined;
  readonly onFailure: (error: unknown) => void;
  /** Called for a notice that was given up. */
  readonly onGivenUp: (notice: EndedNotice) => void;
  /** Called after a delivery or an attempt, when another one may be possible. */
  readonly onEnded: () => void;
}

/**
 * Delivers queued notices, each receiver on its own. A server claims a notice: it moves the row to
 * the time when its claim ends, so that of several servers normally one sends it. After a crash
 * that time comes, and another attempt follows. So the rows that are due stand first, whatever
 * waits behind them.
 */
export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #by: string;
  readonly #sending = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();
  #delivered = 0;
  #isStopping = false;

  constructor(options: DelivererOptions) {
    this.#options = options;
    this.#by = Buffer.from(options.random.bytes(8)).toString('hex');
  }

  /** Notices that this process sends at the moment. */
  get sending(): number {
    return this.#sending.size;
  }

  /** Notices that this process has delivered. */
  get delivered(): number {
    return this.#delivered;
  }

  /** Begins the deliveries that are due. Returns the milliseconds until the next one is. */
  async begin(): Promise<number> {
    let next = Number.POSITIVE_INFINITY;
    for (const receiver of this.#options.receivers) {
      if (this.#isStopping) break;
      await this.#queueReminders(receiver);
      next = Math.min(next, await this.#beginFor(receiver));
    }
    return next;
  }

  async #beginFor(receiver: Receiver): Promise<number> {
    const { store, clock, retry, claimMs } = this.#options;
    const free = AT_ONCE - this.#countOf(receiver);
    if (free <= 0) return Number.POSITIVE_INFINITY;
    // Rows whose claim is being written still stand among the due ones.
    const rows = await store.sideList(waitingKind(receiver.id), { limit: 2 * AT_ONCE });
    const now = instantToMillis(clock.now());
    for (const row of rows) {
      const waitMs = instantToMillis(timeOf(row)) - now;
      // A longer wait was written by a clock that was ahead for a while.
      if (waitMs > 0 && waitMs <= Math.max(retry.maxMs, claimMs)) return waitMs + 1;
      const name = `${receiver.id} ${positionOf(row)}`;
      if (this.#isStopping || this.#countOf(receiver) >= AT_ONCE) break;
      if (!this.#sending.has(name)) this.#start(name, this.#deliver(receiver, row));
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Queues the reminders that are due. Another server may queue them first. */
  async #queueReminders(receiver: Receiver): Promise<void> {
    const { store, clock } = this.#options;
    const rows = await store.sideList(reminderKind(receiver.id), { limit: 2 * AT_ONCE });
    const now = clock.now();
    for (const row of rows.filter((one) => timeOf(one) <= now)) {
      const notice = valueIn<WaitingNotice>(row);
      await this.#put([removed(row), queued(receiver, timeOf(row), positionOf(row), notice)]);
    }
  }

  /** Begins no delivery any more, and waits for those that run: at most so long. */
  async stop(limitMs: number): Promise<void> {
    this.#isStopping = true;
    const timer = setTimeout(() => this.#abort.abort(), limitMs);
    await Promise.all(this.#sending.values());
    clearTimeout(timer);
  }

  #countOf({ id }: Receiver): number {
    return [...this.#sending.keys()].filter((name) => name.startsWith(`${id} `)).length;
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
    const claimed = await this.#claim(receiver, row);
    if (claimed === undefined) return;
    const [entry] = await this.#options.store.logged(positionOf(row), 1);
    const { type, from } = valueIn<WaitingNotice>(row);
    // A deputy may become due while the notice is sent.
    const now = this.#options.clock.now();
    let notice: Notice | undefined;
    let isTold = false;
    try {
      notice = entry && noticeOf(entry);
      if (type === 'approval.reminder' && notice !== undefined && 'deputies' in notice) {
        const deputies = notice.deputies.filter((one) => one.from === from);
        const ending = this.#endingFrom(notice);
        const isEnding = from === undefined || (ending !== undefined && from >= ending);
        notice = { ...notice, type, deputies, isEnding };
      }
      if (notice !== undefined)
        isTold = await this.#options.send(receiver, notice, this.#abort.signal);
    } catch (error) {
      if (this.#abort.signal.aborted) await this.#requeue(receiver, claimed, 0, unclaimed(row));
      else await this.#retry(receiver, claimed, error);
      return;
    }
    const ended = this.#ended(receiver, claimed);
    const reminders = notice && this.#remindersOf(receiver, claimed, notice, now, isTold);
    if (await this.#end(DELIVERED_KIND, claimed, ended, reminders)) this.#delivered += 1;
  }

  /**
   * The rows of the reminders of a request that was delivered, of those that were not due before:
   * before its end, and when deputies may decide. A person who may decide already needs none of the
   * latter. One that is due at both times says both.
   */
  #remindersOf(
    receiver: Receiver,
    row: SideRow,
    notice: Notice,
    before: Instant,
    isTold: boolean,
  ): SideChange[] {
    if (notice.type !== 'approval.requested') return [];
    const value = { entry: notice.entryId, type: 'approval.reminder', attempts: 0 } as const;
    const ending = this.#endingFrom(notice);
    const due = new Map<Instant, WaitingNotice>(ending === undefined ? [] : [[ending, value]]);
    if (receiver.kind !== 'mail' || !isTold)
      for (const { from } of notice.deputies) due.set(from, { ...value, from });
    return [...due].flatMap(([at, reminder]) =>
      at <= before ? [] : [queued(receiver, at, positionOf(row), reminder, reminderKind)],
    );
  }

  /** The time from which a reminder says that the request ends soon. */
  #endingFrom({ expires }: ApprovalRequested): Instant | undefined {
    const { reminderMs } = this.#options;
    if (expires === undefined || reminderMs === undefined) return undefined;
    return addMicros(expires, -reminderMs * 1_000);
  }

  /** Takes the notice for this server. Undefined if another server was first. */
  async #claim(receiver: Receiver, row: SideRow): Promise<SideRow | undefined> {
    const { store, clock, claimMs } = this.#options;
    const until = addMicros(clock.now(), claimMs * 1_000);
    const position = positionOf(row);
    const claim = queued(receiver, until, position, {
      ...valueIn<WaitingNotice>(row),
      by: this.#by,
    });
    if (!(await store.sidePut([removed(row), claim]))) return undefined;
    const claimed = await store.sideGet(row.kind, waitingKey(until, position));
    return claimed !== undefined && valueIn<WaitingNotice>(claimed).by === this.#by
      ? claimed
      : undefined;
  }

  async #retry(receiver: Receiver, row: SideRow, error: unknown): Promise<void> {
    const { random, retry, onFailure, onGivenUp } = this.#options;
    const ended: EndedNotice = { ...this.#ended(receiver, row), error: lastError(error) };
    const { attempts } = ended;
    onFailure(error);
    if (attempts < retry.attempts)
      await this.#requeue(receiver, row, pauseAfter(attempts, retry, random), {
        ...unclaimed(row),
        attempts,
      });
    else if (await this.#end(FAILED_KIND, row, ended)) onGivenUp(ended);
  }

  /** Gives the claim back. */
  async #requeue(
    receiver: Receiver,
    row: SideRow,
    ms: number,
    notice: WaitingNotice,
  ): Promise<void> {
    const due = addMicros(this.#options.clock.now(), ms * 1_000);
    await this.#put([removed(row), queued(receiver, due, positionOf(row), notice)]);
  }

  /** The notice after an attempt. */
  #ended({ id, shownAs }: Receiver, row: SideRow): EndedNotice {
    const notice = unclaimed(row);
    return {
      ...notice,
      attempts: notice.attempts + 1,
      at: this.#options.clock.now(),
      receiver: id,
      shown: shownAs,
    };
  }

  #end(kind: string, row: SideRow, ended: EndedNotice, more: SideChange[] = []) {
    const key = endedKey(ended.at, positionOf(row), ended.receiver);
    return this.#put([removed(row), { kind, key, expected: null, body: bodyOf(ended) }, ...more]);
  }

  #put(changes: readonly SideChange[]): Promise<boolean> {
    return this.#options.store.sidePut(changes);
  }
}

function unclaimed(row: SideRow): WaitingNotice {
  const { by: _, ...notice } = valueIn<WaitingNotice>(row);
  return notice;
}

/** Errors of notices repeat nothing that a receiver wrote. The text of another error can. */
function lastError(error: unknown): { readonly code: string; readonly detail: string } {
  if (isAssizeError(error))
    return {
      code: error.code,
      detail: isInstance(error, NoticeError) ? error.message : error.code,
    };
  return { code: 'internal', detail: 'an error of the server; its log has the details' };
}
