import type { SideRow, SideStore } from 'assize/internal/ledger';
import type { Clock } from 'assize/internal/oracle';
import { noticeId } from '../notice.ts';
import type { Receiver } from '../receivers.ts';
import {
  type EndedNotice,
  FAILED_KIND,
  pagesOf,
  positionOf,
  queued,
  removed,
  valueIn,
} from './delivery-rows.ts';

/** Rows of one read. The changes for a page fit into one put. */
const PAGE = 400;

/** A notice that was given up, with the id that its receiver saw. */
export interface FailedNotice extends EndedNotice {
  readonly id: string;
  /** Whether this server still has the receiver. */
  readonly isConfigured: boolean;
}

/** A page of failed notices, with the cursor of the next one. */
export interface FailedPage {
  readonly notices: readonly FailedNotice[];
  readonly next: string | undefined;
}

/** The notices of a store that were given up. */
export class FailedNotices {
  readonly #store: SideStore;
  readonly #receivers: ReadonlyMap<string, Receiver>;
  readonly #clock: Clock;
  readonly #onQueued: () => void;

  /** `onQueued`: called after notices were queued again. */
  constructor(
    store: SideStore,
    receivers: readonly Receiver[],
    clock: Clock,
    onQueued: () => void,
  ) {
    this.#store = store;
    this.#onQueued = onQueued;
    this.#receivers = new Map(receivers.map((receiver) => [receiver.id, receiver]));
    this.#clock = clock;
  }

  /** Oldest first. */
  async list({
    after,
    limit,
  }: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<FailedPage> {
    const page = { limit, ...(after !== undefined && { after }) };
    const rows = await this.#store.sideList(FAILED_KIND, page);
    return {
      notices: rows.map((row) => this.#shown(row)),
      next: rows.length === limit ? rows.at(-1)?.key : undefined,
    };
  }

  /**
   * Queues failed notices of a receiver again, with all their attempts: one, or all. Returns their
   * number; undefined if this server has no such receiver.
   */
  async retry(receiverId: string, id?: string): Promise<number | undefined> {
    const receiver = this.#receivers.get(receiverId);
    if (receiver === undefined) return undefined;
    let retried = 0;
    for await (const page of pagesOf(this.#store, FAILED_KIND, PAGE)) {
      const chosen = page.filter((row) => isChosen(row, receiverId, id));
      if (await this.#requeue(receiver, chosen)) retried += chosen.length;
      // Another request has retried some of them.
      else for (const row of chosen) if (await this.#requeue(receiver, [row])) retried += 1;
      if (id !== undefined && chosen.length > 0) break;
    }
    if (retried > 0) this.#onQueued();
    return retried;
  }

  #requeue(receiver: Receiver, rows: readonly SideRow[]): Promise<boolean> {
    const due = this.#clock.now();
    return this.#store.sidePut(
      rows.flatMap((row) => {
        const { entry, type, from } = valueIn<EndedNotice>(row);
        const notice = { entry, type, ...(from && { from }), attempts: 0 };
        return [removed(row), queued(receiver, due, positionOf(row), notice)];
      }),
    );
  }

  #shown(row: SideRow): FailedNotice {
    const ended = valueIn<EndedNotice>(row);
    return {
      ...ended,
      id: idOf(ended),
      isConfigured: this.#receivers.has(ended.receiver),
    };
  }
}

function isChosen(row: SideRow, receiverId: string, id: string | undefined): boolean {
  const ended = valueIn<EndedNotice>(row);
  return ended.receiver === receiverId && (id === undefined || id === idOf(ended));
}

function idOf({ entry, receiver, type, from }: EndedNotice): string {
  return noticeId(entry, receiver, type, from);
}
