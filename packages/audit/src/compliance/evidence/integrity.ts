import { type Instant, instantOf } from 'assize/internal/canon';
import {
  askNodes,
  compareWithHead,
  comparisonFault,
  type LedgerStore,
  type LogStore,
} from 'assize/internal/ledger';
import { type KnownLog, openCheckpoint, rootAt, type VerifierKey } from 'assize/internal/merkle';
import { type VerifyOptions, verifyStore } from 'assize/internal/runtime';
import type { LogRead } from './read-entries.ts';

/** A signed checkpoint of the log, with the keys that verify it. */
export interface GivenCheckpoint {
  readonly signed: string;
  readonly log: KnownLog;
  /** The witnesses whose cosignatures count. Default: none. */
  readonly witnesses?: readonly VerifierKey[];
}

/** A checkpoint whose signature holds and which the log continues. */
export interface CheckedCheckpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  /** The witnesses that cosigned it, with their earliest times. */
  readonly cosigned: readonly { readonly name: string; readonly at?: Instant }[];
}

/** A fault that a report names. `trajectory_id` and `seq` are absent for one of the whole log. */
export interface IntegrityFault {
  readonly code: string;
  readonly detail: string;
  readonly trajectory_id?: string;
  readonly seq?: number;
}

/** At most this number of faults is listed; `faults` has the number of all. */
export const FAULTS_MAX = 20;

/**
 * The faults of the chains in scope, in the first `size` entries of the log. A later entry does not
 * change them.
 */
export async function chainFaults(
  store: LedgerStore,
  read: LogRead,
  size: number,
  options: VerifyOptions,
): Promise<IntegrityFault[]> {
  const reports = await verifyStore(store, options);
  const known = new Set((await store.trajectories()).map(({ trajectory_id }) => trajectory_id));
  return reports.flatMap(({ fault }) => {
    if (fault === undefined) return [];
    const { trajectory_id, seq, code, detail } = fault;
    // A trajectory that only the effect log has is at fault whatever was read, and so is a chain
    // after a missing position.
    const isLater =
      read.size === size &&
      known.has(trajectory_id) &&
      seq >= (read.lengths.get(trajectory_id) ?? 0);
    return isLater ? [] : [{ code, detail, trajectory_id, seq }];
  });
}

/**
 * The fault of entries that cannot be read, wherever they are in the log. The chains in scope name
 * theirs, with their places.
 */
export function unreadableFaults(
  { unreadable }: LogRead,
  chains: readonly IntegrityFault[],
): IntegrityFault[] {
  if (unreadable === 0 || chains.length > 0) return [];
  const entries = unreadable === 1 ? 'entry' : 'entries';
  return [
    {
      code: 'unreadable',
      detail: `${unreadable} ${entries} of the log, of whatever trajectory, cannot be read and count in no figure`,
    },
  ];
}

/** Compares the read entries with the log that the store keeps of them. */
export async function logFaults(
  store: LogStore,
  read: LogRead,
  size: number,
): Promise<IntegrityFault[]> {
  if (read.size < size)
    return [
      { code: 'log_broken', detail: `the entry at position ${read.size} of the log is missing` },
    ];
  const kept = await askNodes(store, (nodes) => rootAt(size, nodes));
  if (Buffer.compare(kept, read.root) === 0) return [];
  return [
    {
      code: 'log_differs',
      detail: `the first ${size} entries do not match the log that the store keeps of them`,
    },
  ];
}

/** A checkpoint that the log continues, or the fault that it shows. */
export async function checkedCheckpoint(
  store: LogStore,
  { signed, log, witnesses = [] }: GivenCheckpoint,
): Promise<CheckedCheckpoint | IntegrityFault> {
  const verdict = openCheckpoint(signed, log, witnesses);
  if (!verdict.valid) return { code: 'bad_checkpoint', detail: verdict.detail };
  const { origin, size, root } = verdict.checkpoint;
  const fault = comparisonFault(await compareWithHead(store, { size, root }), { origin, size });
  if (fault !== undefined) return { code: 'checkpoint', detail: fault };
  const cosigned = witnesses.flatMap((witness) => {
    const times = verdict.cosignatures
      .filter(({ key }) => key.publicKey === witness.publicKey)
      .flatMap(({ time }) => (time === undefined ? [] : [time]));
    return times.length === 0 ? [] : [{ name: witness.name, ...timeOf(times) }];
  });
  return { origin, size: Number(size), root: Buffer.from(root).toString('hex'), cosigned };
}

/** The end of the year 9999. A later time is invalid. */
const SECONDS_MAX = 253_402_300_799n;

function timeOf(seconds: readonly bigint[]): { readonly at?: Instant } {
  const [first] = seconds
    .filter((time) => time <= SECONDS_MAX)
    .sort((one, other) => (one < other ? -1 : 1));
  return first === undefined ? {} : { at: instantOf(new Date(Number(first) * 1_000)) };
}

export function isFault(checked: CheckedCheckpoint | IntegrityFault): checked is IntegrityFault {
  return 'code' in checked;
}
