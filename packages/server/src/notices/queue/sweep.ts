import { addMicros, type Instant } from 'assize/internal/canon';
import { SIDE_CHANGES_MAX, type SideStore } from 'assize/internal/ledger';
import type { Clock } from 'assize/internal/oracle';
import type { Receiver } from '../receivers.ts';
import {
  bodyOf,
  cardKind,
  DELIVERED_KIND,
  FAILED_KIND,
  pagesOf,
  RECEIVER_KIND,
  type ReceiverRow,
  reminderKind,
  removed,
  timeOf,
  valueIn,
  waitingKind,
} from './delivery-rows.ts';

const DAY_MS = 24 * 3_600_000;

/** How long rows of notices stay. */
export interface KeepingTimes {
  readonly deliveredMs: number;
  readonly failedMs: number;
  /** From the time when the last server with the receiver used it. */
  readonly unusedMs: number;
}

export const KEEPING: KeepingTimes = {
  deliveredMs: 14 * DAY_MS,
  failedMs: 90 * DAY_MS,
  unusedMs: 7 * DAY_MS,
};

export interface SweepOptions {
  readonly store: SideStore;
  /** The receivers of this server. */
  readonly receivers: readonly Receiver[];
  readonly clock: Clock;
  readonly keeping: KeepingTimes;
}

/**
 * Deletes the rows of notices that ended long ago, and everything of receivers that no server has
 * any more. Several servers may sweep concurrently, also with different receivers.
 */
export async function sweepNotices({
  store,
  receivers,
  clock,
  keeping,
}: SweepOptions): Promise<void> {
  const now = clock.now();
  await sweepEnded(store, DELIVERED_KIND, addMicros(now, -keeping.deliveredMs * 1_000));
  await sweepEnded(store, FAILED_KIND, addMicros(now, -keeping.failedMs * 1_000));
  const own = new Set(receivers.map(({ id }) => id));
  for await (const page of pagesOf(store, RECEIVER_KIND, SIDE_CHANGES_MAX))
    for (const row of page) {
      const value = valueIn<ReceiverRow>(row);
      if (own.has(row.key)) await use(store, row, value, now);
      else if (value.used < addMicros(now, -keeping.unusedMs * 1_000)) await drop(store, row);
    }
}

async function sweepEnded(store: SideStore, kind: string, before: Instant): Promise<void> {
  for await (const page of pagesOf(store, kind, SIDE_CHANGES_MAX)) {
    const old = page.filter((row) => timeOf(row) < before);
    // Another server may sweep the same rows.
    await store.sidePut(old.map(removed));
    if (old.length < page.length) return;
  }
}

/** Notes once a day that the receiver is in use. */
async function use(store: SideStore, row: Row, value: ReceiverRow, now: Instant): Promise<void> {
  if (value.used > addMicros(now, -DAY_MS * 1_000)) return;
  const { kind, key, version: expected } = row;
  await store.sidePut([{ kind, key, expected, body: bodyOf({ ...value, used: now }) }]);
}

/** The row of the receiver goes last, so a crash in between leaves nothing behind. */
async function drop(store: SideStore, row: Row): Promise<void> {
  for (const kindOf of [waitingKind, reminderKind, cardKind])
    for await (const page of pagesOf(store, kindOf(row.key), SIDE_CHANGES_MAX))
      await store.sidePut(page.map(removed));
  await store.sidePut([removed(row)]);
}

type Row = Parameters<typeof removed>[0];
