import { isInstance } from '#base';
import {
  type EntryRow,
  type Hash,
  integrateLog,
  isExpired,
  LedgerFault,
  type LogStore,
  type PendingPayload,
  readRow,
  SIDE_CHANGES_MAX,
  type SideChange,
  type SideRow,
  type SideStore,
} from '#ledger';
import type { Clock } from '#oracle';
import { mayHaveNotice, type Notice, noticeOf, resolvedBy } from '../notice.ts';
import { isFor, type Receiver } from '../receivers.ts';
import { bodyOf, CURSOR_KEY, CURSOR_KIND, type Cursor, queuedKey, queuedKind, valueIn } from './delivery-rows.ts';

/** Entries of one read of the log. */
const PAGE = 500;

export interface EnqueueOptions {
  readonly store: LogStore & SideStore & { resolve(id: Hash): Promise<EntryRow | undefined> };
  readonly receivers: readonly Receiver[];
  readonly clock: Clock;
  /** Receives the fault of an entry that cannot be read. Such an entry has no notice. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Turns entries of the log into queued notices. The log is the outbox: a read place moves past an
 * entry in the transaction that queues the notices of that entry. A crash loses no notice, and of
 * several servers each entry is queued by one.
 */
export class Enqueuer {
  readonly #options: EnqueueOptions;
  /** The proposals of the first entries that were resolved when notices were first configured. */
  #resolved: ReadonlySet<Hash> | undefined;
  #stopped = false;

  constructor(options: EnqueueOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Gives every committed entry its position, and queues the notices of all new entries. */
  async advance(): Promise<void> {
    const { store } = this.#options;
    const size = await integrateLog(store);
    while (!this.#stopped) {
      const row = await store.sideGet(CURSOR_KIND, CURSOR_KEY);
      const cursor: Cursor = row === undefined ? { next: 0, first: size } : valueIn(row);
      if (row !== undefined && cursor.next >= size) return;
      await this.#step(row, cursor);
    }
  }

  /** Queues the notices of one page. Another server may have queued them first. */
  async #step(row: SideRow | undefined, cursor: Cursor): Promise<void> {
    const { store } = this.#options;
    const entries = await store.logged(cursor.next, PAGE);
    const changes: SideChange[] = [];
    let { next } = cursor;
    for (const entry of entries) {
      const queued = await this.#changesFor(entry, next, cursor);
      if (changes.length + queued.length >= SIDE_CHANGES_MAX) break;
      changes.push(...queued);
      next += 1;
    }
    const body = bodyOf({ next, first: cursor.first });
    await store.sidePut([{ kind: CURSOR_KIND, key: CURSOR_KEY, expected: row?.version ?? null, body }, ...changes]);
  }

  async #changesFor(entry: EntryRow, position: number, { first }: Cursor): Promise<readonly SideChange[]> {
    if (!mayHaveNotice(entry)) return [];
    try {
      const notice = noticeOf(entry);
      if (notice === undefined || (position < first && !(await this.#isOpenAt(first, notice, entry)))) return [];
      const channel = await this.#channelOf(notice);
      const { clock, receivers } = this.#options;
      const body = bodyOf({ entry: entry.id, attempts: 0, next: clock.now() });
      return receivers
        .filter((receiver) => isFor(receiver, notice, channel))
        .map(({ id }) => ({ kind: queuedKind(id), key: queuedKey(position), expected: null, body }));
    } catch (error) {
      // A damaged entry stays damaged. `fsck` names it, and later entries must not wait for it.
      if (!isInstance(error, LedgerFault)) throw error;
      this.#options.onFailure(error);
      return [];
    }
  }

  /** Whether a proposal of an early entry still waits for a decision. */
  async #isOpenAt(first: number, notice: Notice, entry: EntryRow): Promise<boolean> {
    if (notice.type !== 'approval.requested') return false;
    if (isExpired(readRow(entry).payload as PendingPayload, this.#options.clock.now())) return false;
    this.#resolved ??= await this.#resolvedBefore(first);
    return !this.#resolved.has(notice.pendingId);
  }

  async #resolvedBefore(first: number): Promise<ReadonlySet<Hash>> {
    const resolved = new Set<Hash>();
    for (let from = 0; from < first && !this.#stopped; from += PAGE) {
      for (const entry of await this.#options.store.logged(from, Math.min(PAGE, first - from))) {
        const id = resolvedBy(entry);
        if (id !== undefined) resolved.add(id);
      }
    }
    return resolved;
  }

  /** The channel of the proposal, which the entry of a resolution does not name. */
  async #channelOf(notice: Notice): Promise<string | undefined> {
    if (notice.type === 'approval.requested') return notice.channel;
    const pending = await this.#options.store.resolve(notice.pendingId);
    return pending === undefined ? undefined : (readRow(pending).payload as PendingPayload).channel;
  }
}
