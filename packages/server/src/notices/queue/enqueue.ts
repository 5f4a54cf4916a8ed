import { isInstance } from 'assize/internal/base';
import {
  type EntryRow,
  type Hash,
  integrateLog,
  LedgerFault,
  type LogStore,
  type PendingPayload,
  readRow,
  SIDE_CHANGES_MAX,
  type SideChange,
  type SideRow,
  type SideStore,
} from 'assize/internal/ledger';
import type { Clock } from 'assize/internal/oracle';
import { mayHaveNotice, type Notice, noticeOf } from '../notice.ts';
import { isFor, type Receiver } from '../receivers.ts';
import {
  bodyOf,
  pagesOf,
  queued,
  RECEIVER_KIND,
  type ReceiverRow,
  valueIn,
} from './delivery-rows.ts';

/** Entries of one read of the log. */
const PAGE = 500;

/** Receivers that are moved in one put: their rows, and a notice for each, fit into it. */
const TOGETHER = SIDE_CHANGES_MAX / 2 - 50;

export interface EnqueueOptions {
  readonly store: LogStore & SideStore & { resolve(id: Hash): Promise<EntryRow | undefined> };
  readonly receivers: readonly Receiver[];
  /** The proposals that wait for a decision now. */
  readonly openProposals: () => AsyncIterable<{ readonly id: Hash }>;
  readonly clock: Clock;
  /** Receives the fault of an entry that cannot be read. Such an entry has no notice. */
  readonly onFailure: (error: unknown) => void;
}

/** A receiver with its row. A new receiver has no row. */
interface Place {
  readonly receiver: Receiver;
  readonly row: SideRow | undefined;
  readonly value: ReceiverRow;
}

/** A notice of an entry, with the channel of its proposal. */
interface Found {
  readonly position: number;
  readonly notice: Notice;
  readonly channel: string | undefined;
}

/**
 * Turns entries of the log into queued notices. The log is the outbox: the read place of a receiver
 * moves past an entry in the transaction that queues its notice of that entry. A crash loses no
 * notice, and of several servers one queues each. A server moves only the receivers that it knows.
 */
export class Enqueuer {
  readonly #options: EnqueueOptions;
  /** By receiver: no entry from its stored place up to this position has a notice for it. */
  readonly #read: Map<string, number> = new Map();
  #stopped = false;

  constructor(options: EnqueueOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Gives every committed entry its position, and queues the notices of all new entries. */
  async advance(): Promise<void> {
    const size = await integrateLog(this.#options.store);
    while (!this.#stopped) {
      const places = await this.#places(size);
      const joining = places.filter(
        ({ row, value }) => row === undefined || value.next < value.first,
      );
      const behind = places.filter((place) => this.#from(place) < size);
      if (joining.length > 0) await this.#join(joining);
      else if (behind.length > 0) await this.#readPage(behind);
      else return;
    }
  }

  async #places(size: number): Promise<readonly Place[]> {
    const { store, receivers, clock } = this.#options;
    const rows = new Map<string, SideRow>();
    for await (const page of pagesOf(store, RECEIVER_KIND, PAGE))
      for (const row of page) rows.set(row.key, row);
    return receivers.map((receiver) => {
      const row = rows.get(receiver.id);
      const added: ReceiverRow = {
        next: 0,
        first: size,
        shown: receiver.shownAs,
        used: clock.now(),
      };
      return { receiver, row, value: row === undefined ? added : valueIn(row) };
    });
  }

  #from({ receiver, value }: Place): number {
    return Math.max(value.next, this.#read.get(receiver.id) ?? 0);
  }

  /** Queues the proposals that were open when a receiver was added. */
  async #join(places: readonly Place[]): Promise<void> {
    const open = await this.#open();
    for (const place of places) {
      const { next, first } = place.value;
      const own = open
        .filter(({ position }) => position >= next && position < first)
        .filter(({ notice, channel }) => isFor(place.receiver, notice, channel))
        .slice(0, SIDE_CHANGES_MAX - 1);
      const last = own.length < SIDE_CHANGES_MAX - 1 ? undefined : own.at(-1);
      const after = last === undefined ? first : last.position + 1;
      await this.#put([moved(place, after), ...own.map((found) => this.#queued(place, found))]);
    }
  }

  async #open(): Promise<readonly Found[]> {
    const { store, openProposals } = this.#options;
    const open: Found[] = [];
    for await (const { id } of openProposals()) {
      const [position, row] = [await store.logIndex(id), await store.resolve(id)];
      const found =
        position === undefined || row === undefined ? undefined : await this.#found(row, position);
      if (found !== undefined) open.push(found);
    }
    return open.sort((a, b) => a.position - b.position);
  }

  /** Reads a page of the log for the receivers that are the furthest behind. */
  async #readPage(behind: readonly Place[]): Promise<void> {
    const from = Math.min(...behind.map((place) => this.#from(place)));
    const readers = behind.filter((place) => this.#from(place) === from);
    const entries = await this.#options.store.logged(from, PAGE);
    const found: Found[] = [];
    for (const [n, row] of entries.entries()) {
      const one = await this.#found(row, from + n);
      if (one !== undefined) found.push(one);
    }
    for (let n = 0; n < readers.length; n += TOGETHER)
      await this.#queue(readers.slice(n, n + TOGETHER), found, from + entries.length);
  }

  /** Queues the notices of one page. Another server may have queued them first. */
  async #queue(readers: readonly Place[], found: readonly Found[], end: number): Promise<void> {
    const changes: SideChange[] = [];
    const told = new Set<Place>();
    let after = end;
    for (const one of found) {
      const takers = readers.filter(({ receiver }) => isFor(receiver, one.notice, one.channel));
      if (readers.length + changes.length + takers.length > SIDE_CHANGES_MAX) {
        after = one.position;
        break;
      }
      changes.push(...takers.map((place) => this.#queued(place, one)));
      for (const place of takers) told.add(place);
    }
    // A place is also stored from time to time without notices, so that a start reads few entries.
    const moves = readers.filter((place) => told.has(place) || after - place.value.next >= PAGE);
    if (!(await this.#put([...moves.map((place) => moved(place, after)), ...changes]))) return;
    for (const { receiver } of readers) this.#read.set(receiver.id, after);
  }

  #queued({ receiver }: Place, { position, notice }: Found): SideChange {
    const { entryId: entry, type } = notice;
    return queued(receiver, this.#options.clock.now(), position, { entry, type, attempts: 0 });
  }

  #put(changes: readonly SideChange[]): Promise<boolean> {
    return this.#options.store.sidePut(changes);
  }

  async #found(row: EntryRow, position: number): Promise<Found | undefined> {
    if (!mayHaveNotice(row)) return undefined;
    try {
      const notice = noticeOf(row);
      return notice && { position, notice, channel: await this.#channelOf(notice) };
    } catch (error) {
      // A damaged entry stays damaged. `fsck` names it, and later entries must not wait for it.
      if (!isInstance(error, LedgerFault)) throw error;
      this.#options.onFailure(error);
      return undefined;
    }
  }

  /** The channel of the proposal. The entry of a resolution does not name it. */
  async #channelOf(notice: Notice): Promise<string | undefined> {
    if (notice.type !== 'approval.resolved') return notice.channel;
    const pending = await this.#options.store.resolve(notice.pendingId);
    return pending === undefined ? undefined : (readRow(pending).payload as PendingPayload).channel;
  }
}

/** The change that moves the read place of a receiver. */
function moved({ receiver, row, value }: Place, next: number): SideChange {
  const body = bodyOf({ ...value, next });
  return { kind: RECEIVER_KIND, key: receiver.id, expected: row?.version ?? null, body };
}
