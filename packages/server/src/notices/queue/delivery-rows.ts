import type { Json } from 'assize/internal/base';
import { canonicalize, readCanonical } from 'assize/internal/canon';
import type { Hash, Instant, SideChange, SideRow, SideStore } from 'assize/internal/ledger';
import type { Notice } from '../notice.ts';
import type { Receiver } from '../receivers.ts';

/** The kind of the rows of receivers. The key is the id of the receiver. */
export const RECEIVER_KIND = 'notice/receiver';

/** The kinds of rows of notices that were delivered, and of those that were given up. */
export const DELIVERED_KIND = 'notice/delivered';
export const FAILED_KIND = 'notice/failed';

/** The read place of one receiver. */
export interface ReceiverRow {
  /** The position of the next entry to read for the receiver. */
  readonly next: number;
  /**
   * The size of the log when the receiver was added. Of earlier entries, only proposals that were
   * open then have notices for it.
   */
  readonly first: number;
  /** The receiver in lists. */
  readonly shown: string;
  /** The last time when a server had the receiver in its configuration, about a day exact. */
  readonly used: Instant;
}

/** A notice in the queue. */
interface QueuedNotice {
  readonly entry: Hash;
  readonly type: Notice['type'];
  /** The time from which deputies may decide, for a reminder about them. */
  readonly from?: Instant;
  readonly attempts: number;
}

/** A notice that waits for its delivery. Its key begins with the time of the next attempt. */
export interface WaitingNotice extends QueuedNotice {
  /** The server that attempts the delivery, until the time of the key. */
  readonly by?: string;
}

/** A notice that was delivered, or given up after the last attempt. */
export interface EndedNotice extends QueuedNotice {
  readonly at: Instant;
  /** The id of the receiver, and the receiver in lists. */
  readonly receiver: string;
  readonly shown: string;
  /** The last error of a notice that was given up, without what a receiver wrote. */
  readonly error?: { readonly code: string; readonly detail: string };
}

/** The characters of an instant, and those of a position, in a key. */
const INSTANT_LENGTH = 27;
const POSITION_LENGTH = 16;

export function waitingKind(receiverId: string): string {
  return `notice/waiting/${receiverId}`;
}

/** The kind of the rows of reminders, by the time when they are due. */
export function reminderKind(receiverId: string): string {
  return `notice/reminder/${receiverId}`;
}

/** The kind of the rows of messages of a chat that show a request. The key is its id. */
export function cardKind(receiverId: string): string {
  return `notice/card/${receiverId}`;
}

/** Keys are in the order of the time, so the notices that are due come first. */
export function waitingKey(due: Instant, position: number): string {
  return `${due}/${String(position).padStart(POSITION_LENGTH, '0')}`;
}

/** Keys are in the order of the end. */
export function endedKey(at: Instant, position: number, receiverId: string): string {
  return `${waitingKey(at, position)}/${receiverId}`;
}

/** The time with which a key begins: when a notice is due, or when it ended. */
export function timeOf({ key }: SideRow): Instant {
  return key.slice(0, INSTANT_LENGTH);
}

export function positionOf({ key }: SideRow): number {
  return Number(key.slice(INSTANT_LENGTH + 1, INSTANT_LENGTH + 1 + POSITION_LENGTH));
}

/** The change that queues a notice. */
export function queued(
  { id }: Pick<Receiver, 'id'>,
  due: Instant,
  position: number,
  notice: WaitingNotice,
  kind: (receiverId: string) => string = waitingKind,
): SideChange {
  return {
    kind: kind(id),
    key: waitingKey(due, position),
    expected: null,
    body: bodyOf(notice),
  };
}

/** The change that removes a row as it was read. */
export function removed({ kind, key, version }: SideRow): SideChange {
  return { kind, key, expected: version, body: null };
}

/** The value that this server, or another one, wrote to a row. */
export function valueIn<T extends ReceiverRow | WaitingNotice | EndedNotice>({ body }: SideRow): T {
  return readCanonical(body) as unknown as T;
}

export function bodyOf(value: ReceiverRow | WaitingNotice | EndedNotice): string {
  return canonicalize(value as unknown as Json);
}

/** All rows of a kind in pages, in the order of their keys. */
export async function* pagesOf(
  store: SideStore,
  kind: string,
  limit: number,
): AsyncGenerator<readonly SideRow[], void, undefined> {
  for (let after: string | undefined; ; ) {
    const page = await store.sideList(kind, { limit, ...(after !== undefined && { after }) });
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    after = page.at(-1)?.key;
  }
}
