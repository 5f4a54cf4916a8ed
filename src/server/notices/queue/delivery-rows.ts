import type { Json } from '#base';
import { canonicalize, readCanonical } from '#canon';
import type { Hash, Instant, SideRow } from '#ledger';

/** The kind of the row with the place up to which the log was read. */
export const CURSOR_KIND = 'notice/cursor';
export const CURSOR_KEY = 'log';

/** The kinds of rows of notices that were delivered, and of those that were given up. */
export const DELIVERED_KIND = 'notice/delivered';
export const FAILED_KIND = 'notice/failed';

/** A read place of the log. */
export interface Cursor {
  /** The position of the next entry to read. */
  readonly next: number;
  /**
   * The size of the log when notices were first configured. Of earlier entries, only proposals that
   * were open then have notices.
   */
  readonly first: number;
}

/** A notice that waits for its delivery. */
export interface QueuedNotice {
  readonly entry: Hash;
  readonly attempts: number;
  /** The earliest time of the next attempt. */
  readonly next: Instant;
  /** The server that attempts the delivery, until a time. */
  readonly lease?: { readonly by: string; readonly until: Instant };
}

/** A notice that was delivered, or given up after the last attempt. */
export interface EndedNotice {
  readonly entry: Hash;
  readonly attempts: number;
  readonly at: Instant;
  /** The principal, or the origin of the webhook. */
  readonly receiver: string;
  /** The code of the last error of a notice that was given up. */
  readonly why?: string;
}

export function queuedKind(receiverId: string): string {
  return `notice/queued/${receiverId}`;
}

/** Keys are in the order of the log. */
export function queuedKey(position: number): string {
  return String(position).padStart(16, '0');
}

export function endedKey(position: string, receiverId: string): string {
  return `${position}/${receiverId}`;
}

export function positionOf({ key }: SideRow): number {
  return Number(key.slice(0, 16));
}

/** The value that this server, or another one, wrote to a row. */
export function valueIn<T extends Cursor | QueuedNotice | EndedNotice>({ body }: SideRow): T {
  return readCanonical(body) as unknown as T;
}

export function bodyOf(value: Cursor | QueuedNotice | EndedNotice): string {
  return canonicalize(value as unknown as Json);
}
