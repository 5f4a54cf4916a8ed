/**
 * The common part of main jobs: a domain brings a whole data set before the kernel and reports the
 * result.
 *
 * Guarantees: a report about the store is read from the store's bytes, and not from the job's
 * memory. Not included: the proposals, their principals, and the criterion of success. Each
 * job defines these.
 */
import { type KeyPair, type LedgerStore, verifyStore } from 'assize';
import { arg, checkArgument } from 'assize/internal/base';
import type { Fault } from 'assize/internal/ledger';

export interface JobOptions {
  readonly store: LedgerStore;
  /** Issues the writs. Its public key is the anchor with which the store can be worked on later. */
  readonly keys: KeyPair;
  readonly onProgress?: (phase: 'adjudicating' | 'verifying', done: number, total: number) => void;
  /** Stops before the next proposal. Earlier rulings stay in the store. */
  readonly signal?: AbortSignal;
}

export interface JobReport {
  /** The number of entries in the whole verified store. */
  readonly entries: number;
  readonly verified: boolean;
  /** The entries that do not verify, if any. */
  readonly faults?: readonly Fault[];
  readonly seconds: number;
}

/** One of the two is there. */
interface Refusal {
  readonly invariant_id?: string;
  readonly reason?: string;
}

const WHILE = arg.members({
  store: arg.object,
  onProgress: arg.optional(arg.of('a function', isFunction)),
});
const MOMENT = arg.of('a time in milliseconds', Number.isFinite);
const REFUSALS = arg.list(arg.of('a refusal by an invariant or for a reason', isRefusal));

/**
 * The end of a job that began at `started` (`performance.now()`): the whole store is replayed.
 *
 * @throws what the store throws; ArgumentError `bad_argument`
 */
export async function finished(
  job: Pick<JobOptions, 'store' | 'onProgress'>,
  started: number,
): Promise<JobReport> {
  checkArgument(WHILE, job, 'job');
  checkArgument(MOMENT, started, 'started');
  const { store, onProgress } = job;
  const reports = await verifyStore(store, {
    onProgress: (done, total) => onProgress?.('verifying', done, total),
  });
  const faults = reports.flatMap(({ fault }) => fault ?? []);
  return {
    entries: reports.reduce((sum, { entries }) => sum + entries, 0),
    verified: faults.length === 0,
    ...(faults.length === 0 ? {} : { faults }),
    seconds: Math.round(performance.now() - started) / 1_000,
  };
}

/**
 * How many refusals there were for each cause: the invariant, or else the reason.
 *
 * @throws ArgumentError `bad_argument`
 */
export function byCause(refusals: readonly Refusal[]): Record<string, number> {
  checkArgument(REFUSALS, refusals, 'refusals');
  const counts: Record<string, number> = {};
  for (const { invariant_id, reason } of refusals) {
    const cause = (invariant_id ?? reason) as string;
    counts[cause] = (counts[cause] ?? 0) + 1;
  }
  return counts;
}

function isRefusal(value: unknown): boolean {
  const { invariant_id, reason } = (value ?? {}) as Partial<Refusal>;
  return typeof (invariant_id ?? reason) === 'string';
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
