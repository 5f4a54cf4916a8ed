/**
 * Durable appends of many callers beside bare inserts of the very same rows in the very same
 * groups: how they are driven, watched and compared. `store.ts` and `postgres.ts` say what is bare
 * in each store.
 */
import { hash } from 'node:crypto';
import type { EntryRow, LedgerStore } from '#ledger';
import { type BenchResult, median, percentile, type Rate, rateResult } from './measure.ts';

export const ROUNDS = 11;

/** As large as a commit entry that changes three fields. */
const PAYLOAD_BYTES = 600;

/**
 * Appends one caller's entries in sequence, or those of several callers concurrently, and resolves
 * after all answers.
 */
export type Drive = (chains: Rows, store: LedgerStore, watch: Watch) => Promise<void>;

/** The entries that each caller sends. */
export type Rows = readonly (readonly EntryRow[])[];

/**
 * Inserts into the store's own tables, as fast as the driver can: values already as it takes them,
 * no checks.
 */
export interface Bare<Bound> {
  /** The rows in the order in which callers in lockstep send them. */
  bind(chains: Rows): Bound[];
  /** Number of rows per transaction. */
  insert(rows: readonly Bound[], groups: readonly number[]): void | Promise<void>;
}

export interface Appends<Bound> {
  readonly name: string;
  readonly callers: number;
  /** Entries per round, of all callers. */
  readonly entries: number;
  readonly store: LedgerStore;
  readonly bare: Bare<Bound>;
  readonly drive: Drive;
  readonly goal?: BenchResult['goal'];
}

export async function measureAppends<Bound>(appends: Appends<Bound>): Promise<BenchResult[]> {
  const { name, callers, entries, store, bare, drive, goal } = appends;
  const watch = new Watch();
  const chains = new Chains(callers);
  const own: number[] = [];
  const baseline: number[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const rows = chains.next(entries / callers);
    const bound = bare.bind(rows);
    const appendOwn = async (): Promise<void> => {
      watch.groups = [];
      own.push(await perSecond(bound.length, () => drive(rows, store, watch)));
    };
    // The groups are the store's of this round or, where bare has the first turn, of the round
    // before.
    const insertBare = async (): Promise<void> => {
      baseline.push(await perSecond(bound.length, () => bare.insert(bound, watch.groups)));
    };
    const turns = round % 2 === 0 ? [insertBare, appendOwn] : [appendOwn, insertBare];
    for (const turn of turns) await turn();
    if (round < 0) watch.latencies = [];
  }
  const result = rateResult(rateOf(name, own), rateOf('bare inserts', baseline), goal);
  return [
    result,
    { name: `${name}: written together`, value: median(watch.groups), unit: 'entries' },
    { name: `${name}: p50`, value: percentile(watch.latencies, 50), unit: 'ms' },
    { name: `${name}: p99`, value: percentile(watch.latencies, 99), unit: 'ms' },
  ];
}

/** Without the first round: it warms up. */
export function rateOf(name: string, rounds: readonly number[]): Rate {
  return { name, perSecond: median(rounds.slice(1)), rounds: rounds.slice(1) };
}

export async function perSecond(count: number, run: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  const seconds = (performance.now() - start) / 1_000;
  // Lets the watch close its last group, and a checkpoint that is due run outside of the next turn.
  await new Promise(setImmediate);
  return count / seconds;
}

/** The callers' measurements: the number of appends answered together, and each wait. */
export class Watch {
  groups: number[] = [];
  latencies: number[] = [];
  #together = 0;

  answered(sentAt: number): void {
    this.latencies.push(performance.now() - sentAt);
    // All answers of one group settle in one go; a tick runs after the last of them.
    if (this.#together === 0) process.nextTick(this.#closeGroup);
    this.#together += 1;
  }

  readonly #closeGroup = (): void => {
    this.groups.push(this.#together);
    this.#together = 0;
  };
}

export const driveHere: Drive = async (chains, store, watch) => {
  await Promise.all(chains.map((chain) => appendAll(chain, store, watch)));
};

async function appendAll(
  chain: readonly EntryRow[],
  store: LedgerStore,
  watch: Watch,
): Promise<void> {
  for (const row of chain) await append(row, store, watch);
}

export async function append(row: EntryRow, store: LedgerStore, watch: Watch): Promise<void> {
  const sentAt = performance.now();
  const { status } = await store.commit({ entries: [row], blobs: [] });
  if (status !== 'committed') throw new Error(`an append was answered ${status}`);
  watch.answered(sentAt);
}

/** The callers' chains, each continued from round to round. */
export class Chains {
  readonly #last: (EntryRow | undefined)[];

  constructor(callers: number) {
    this.#last = new Array<EntryRow | undefined>(callers).fill(undefined);
  }

  next(length: number): EntryRow[][] {
    return this.#last.map((_, caller) => Array.from({ length }, () => this.#entry(caller)));
  }

  #entry(caller: number): EntryRow {
    const last = this.#last[caller];
    const seq = last === undefined ? 0 : last.seq + 1;
    const parent = last === undefined ? null : last.id;
    const short = JSON.stringify({
      kind: 'commit',
      note: '',
      parent,
      seq,
      trajectory_id: `t${caller}`,
    });
    const payload = short.replace(
      '"note":""',
      `"note":"${'x'.repeat(PAYLOAD_BYTES - short.length)}"`,
    );
    const row = {
      id: hash('sha256', payload),
      trajectory_id: `t${caller}`,
      parent,
      seq,
      kind: 'commit',
      payload,
    } as const;
    this.#last[caller] = row;
    return row;
  }
}
