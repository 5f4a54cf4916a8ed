import { readTransaction } from 'assize/internal/effects';
import {
  type EffectStore,
  type LedgerStore,
  type Payload,
  Replayer,
  readRow,
} from 'assize/internal/ledger';
import type { GatewayState } from '#gateway';
import { madeOutcome } from './made-outcome.ts';
import { StandingLog, type StandingRecord, type StandingUse } from './standing-log.ts';

/** How many entries one read returns. */
const PAGE = 500;

/** Two wanted entries with at most this many others between them are read together. */
const GAP = 50;

/**
 * Reads the standing approvals of one trajectory. It remembers the places of the entries that
 * concern them, so that a second reading costs what was appended since. It keeps no value: an
 * erased one is gone at the next reading.
 */
export class StandingReader {
  readonly #store: LedgerStore & Partial<EffectStore>;
  readonly #trajectoryId: string;
  readonly #replayer: Replayer;
  readonly #places: number[] = [];
  readonly #covered: Set<string> = new Set();
  #next = 0;
  #isBranch = false;
  #last: Promise<unknown> = Promise.resolve();

  /** With an effect log in the store, calls that Assize made have their outcomes. */
  constructor(store: LedgerStore & Partial<EffectStore>, trajectoryId: string) {
    this.#store = store;
    this.#trajectoryId = trajectoryId;
    this.#replayer = new Replayer(store);
  }

  /**
   * The standing approvals up to now, in the order of their approvals. Those of a branch's source
   * are included.
   *
   * @throws LedgerFault; EffectError `log_damaged`
   */
  read(): Promise<readonly StandingRecord[]> {
    const reading = this.#last.then(() => this.#read());
    this.#last = reading.catch(() => undefined);
    return reading;
  }

  async #read(): Promise<readonly StandingRecord[]> {
    const log = new StandingLog(this.#replayer.values);
    await this.#follow();
    if (this.#isBranch) log.inherit(await this.#inherited());
    const places = new Set(this.#places);
    for (const { from, limit } of rangesOf(this.#places)) {
      const rows = await this.#store.entries(this.#trajectoryId, { from, limit });
      for (const row of rows) if (places.has(row.seq)) await log.add(readRow(row));
    }
    return Promise.all(log.records.map((record) => this.#withOutcomes(record)));
  }

  /** The record with the outcomes of the calls that Assize made. */
  async #withOutcomes(record: StandingRecord): Promise<StandingRecord> {
    const calls = await Promise.all(
      record.calls.map(async (use) => ({ ...use, ...(await this.#outcomeOf(use)) })),
    );
    return { ...record, calls };
  }

  async #outcomeOf({ epoch }: StandingUse): Promise<Pick<StandingUse, 'outcome'>> {
    const logged = epoch === undefined ? undefined : await this.#store.effectsOf?.(epoch);
    const outcome = logged && madeOutcome(readTransaction(logged).state);
    return outcome === undefined ? {} : { outcome };
  }

  /** Finds the places in new entries. */
  async #follow(): Promise<void> {
    for (;;) {
      const rows = await this.#store.entries(this.#trajectoryId, { from: this.#next, limit: PAGE });
      for (const row of rows) {
        const { payload } = readRow(row);
        if (payload.kind === 'branch') {
          this.#isBranch = true;
          for (const key in (await this.#inherited()).spent)
            this.#covered.add(key.slice(key.indexOf('|') + 1));
        }
        if (concernsStanding(payload, this.#covered)) this.#places.push(row.seq);
        this.#next = row.seq + 1;
      }
      if (rows.length < PAGE) return;
    }
  }

  /** The state with which the branch begins. */
  async #inherited(): Promise<GatewayState> {
    const [first] = await this.#store.entries(this.#trajectoryId, { from: 0, limit: 1 });
    const { fold } = await this.#replayer.replay(this.#trajectoryId, { until: first!.id });
    return fold.state as unknown as GatewayState;
  }
}

/**
 * Whether an entry tells about standing approvals or calls that they let through. `covered`: the
 * ids of these calls. The function adds to it.
 */
function concernsStanding(payload: Payload, covered: Set<string>): boolean {
  if (payload.kind !== 'commit') return false;
  const { action, delta } = payload;
  if (action.name === 'stand' || action.name === 'end_standing') return true;
  if (action.name !== 'call' && action.name !== 'report') return false;
  // Operations in a blob are read only when they are wanted.
  if (!Array.isArray(delta.state)) return true;
  const paths: readonly string[] = delta.state.map(({ path }: { readonly path: string }) => path);
  if (action.name === 'report') return paths.some((path) => covered.has(path.split('/')[2] ?? ''));
  const spent = paths.find((path) => path.startsWith('/spent/'));
  if (spent === undefined) return false;
  covered.add(spent.slice(spent.indexOf('|') + 1));
  return true;
}

/** Ranges of entries with all these places, in order. */
function rangesOf(places: readonly number[]): { readonly from: number; readonly limit: number }[] {
  const ranges: { from: number; limit: number }[] = [];
  for (const place of places) {
    const last = ranges.at(-1);
    const isNear =
      last !== undefined && place < last.from + last.limit + GAP && place - last.from < PAGE;
    if (isNear) last.limit = place - last.from + 1;
    else ranges.push({ from: place, limit: 1 });
  }
  return ranges;
}
