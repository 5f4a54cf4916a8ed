import { isInstance } from 'assize/internal/base';
import { instantToMillis } from 'assize/internal/canon';
import {
  type EntryRow,
  type Hash,
  type Instant,
  integrateLog,
  isEffectPending,
  isExpired,
  LedgerFault,
  type LogStore,
  type Payload,
  type PendingEffectArgs,
  type PendingPayload,
  pendingEffectIn,
  readRow,
} from 'assize/internal/ledger';
import type { Clock } from 'assize/internal/oracle';
import type { OpenPending } from 'assize/internal/runtime';
import type { Metrics } from '../log/metrics.ts';
import { mayHaveNotice } from '../notices/notice.ts';
import { Recurring } from './recurring.ts';

/** The time after which entries of other processes are seen. */
const OTHERS_MS = 15_000;
const PAGE = 500;

export interface NeedsPeopleOptions {
  readonly store: LogStore;
  /** The proposals and calls that wait for a person at the start. */
  readonly open: () => AsyncIterable<OpenPending>;
  /** Called once for each call that comes up and whose outcome a person must settle. */
  readonly onEffect: (entry: EntryRow, effect: PendingEffectArgs) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Counts of what waits for a person. */
export interface Needs {
  readonly approvals: number;
  readonly effects: number;
  /** Seconds since the oldest of them came up. */
  readonly oldestSeconds: number;
}

const GAUGES: readonly (readonly [name: string, help: string, of: (needs: Needs) => number])[] = [
  ['assize_approvals_waiting', 'Proposals that wait for a decision.', ({ approvals }) => approvals],
  [
    'assize_effects_need_person',
    'Calls whose outcome a person must settle.',
    ({ effects }) => effects,
  ],
  [
    'assize_oldest_waiting_seconds',
    'Age of the oldest of both; 0 without any.',
    ({ oldestSeconds }) => oldestSeconds,
  ],
];

/**
 * The work of people: pending proposals, and calls that are in doubt or have failed. Kept from
 * the entries of the log, so that a question about it reads nothing.
 */
export class NeedsPeople {
  readonly #options: NeedsPeopleOptions;
  readonly #waiting: Map<Hash, PendingPayload> = new Map();
  #next: number | undefined;
  #reading: Recurring | undefined;
  #isStopped = false;

  constructor(options: NeedsPeopleOptions) {
    this.#options = options;
  }

  /** Reads what waits. Entries from here on are read as they come. */
  async start(): Promise<void> {
    const { store, open } = this.#options;
    const size = await integrateLog(store);
    for await (const { id, payload } of open()) this.#waiting.set(id, payload);
    this.#next = size;
    this.#reading = new Recurring(OTHERS_MS, () => this.#read(), this.#options.onFailure);
    if (this.#isStopped) await this.#reading.stop();
    else await this.#reading.run();
  }

  /** Reads new entries soon. */
  wake(): void {
    this.#reading?.wake();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#reading?.stop();
  }

  measure(metrics: Metrics, clock: Clock): void {
    const read = (of: (needs: Needs) => number) => () => of(this.at(clock.now()));
    for (const [name, help, of] of GAUGES) metrics.gauge({ name, help, read: read(of) });
  }

  at(now: Instant): Needs {
    const waiting = [...this.#waiting.values()].filter((one) => !isExpired(one, now));
    const effects = waiting.filter(isEffectPending).length;
    const oldest = waiting.reduce((first, { at }) => (at < first ? at : first), now);
    const oldestSeconds = (instantToMillis(now) - instantToMillis(oldest)) / 1_000;
    return { approvals: waiting.length - effects, effects, oldestSeconds };
  }

  /** A damaged entry stays damaged, and later entries must not wait for it. */
  #payloadOf(row: EntryRow): Payload | undefined {
    if (!mayHaveNotice(row)) return undefined;
    try {
      return readRow(row).payload;
    } catch (error) {
      if (!isInstance(error, LedgerFault)) throw error;
      this.#options.onFailure(error);
      return undefined;
    }
  }

  async #read(): Promise<void> {
    const { store, onEffect } = this.#options;
    while (
      !this.#isStopped &&
      this.#next !== undefined &&
      this.#next < (await integrateLog(store))
    ) {
      const rows = await store.logged(this.#next, PAGE);
      for (const row of rows) {
        const payload = this.#payloadOf(row);
        if (payload === undefined) continue;
        if ('resolves' in payload && payload.resolves !== undefined)
          this.#waiting.delete(payload.resolves);
        if (payload.kind !== 'pending_approval') continue;
        this.#waiting.set(row.id, payload);
        const effect = pendingEffectIn(payload);
        if (effect !== undefined) onEffect(row, effect);
      }
      this.#next += rows.length;
      if (rows.length === 0) return;
    }
  }
}
