import type { Instant } from 'assize/internal/canon';
import { integrateLog, type LedgerStore, type LogStore } from 'assize/internal/ledger';
import { ComplianceError } from '../errors.ts';
import { Collector, type Scope } from './collect.ts';
import {
  type CheckedCheckpoint,
  chainFaults,
  checkedCheckpoint,
  type GivenCheckpoint,
  type IntegrityFault,
  isFault,
  logFaults,
  unreadableFaults,
} from './integrity.ts';
import { readEntries } from './read-entries.ts';

/** All that a report says, before any clause. */
export interface Evidence {
  readonly collected: Collector;
  /** The size of the log that the evidence is of, and its RFC 6962 root in hex. */
  readonly size: number;
  readonly root: string;
  /** The end of the period, or the time of the last entry if that is earlier. Absent: no entry. */
  readonly asOf?: Instant;
  /** Chains, log and checkpoint. Empty: all that was read verifies. */
  readonly faults: readonly IntegrityFault[];
  readonly checkpoint?: CheckedCheckpoint;
}

export interface EvidenceOptions {
  readonly since?: Instant;
  readonly until?: Instant;
  readonly trajectories?: readonly string[];
  /** Only the first entries of the log. Default: all; they get their positions first. */
  readonly size?: number;
  /** The last checkpoint that is kept outside of the store. */
  readonly checkpoint?: GivenCheckpoint;
  /** Called now and then with the step, the number of entries done, and the total. */
  readonly onProgress?: (
    step: 'entries read' | 'verifying entries',
    done: number,
    total: number,
  ) => void;
}

/**
 * Reads the log once, verifies it, and counts. Without a size all entries get their positions in
 * the log first. This needs a writable store.
 *
 * @throws ComplianceError `not_found`; the errors of the store
 */
export async function gatherEvidence(
  store: LedgerStore & LogStore,
  options: EvidenceOptions,
): Promise<Evidence> {
  const { trajectories, checkpoint: given, onProgress } = options;
  const size = await sizeOf(store, options.size);
  const collected = new Collector(store, scopeOf(options));
  const read = await readEntries(store, size, {
    onEntry: (entry, position) => collected.add(entry, position),
    onPage: (done) => onProgress?.('entries read', done, size),
  });
  const checked = given && (await checkedCheckpoint(store, given));
  const chains = await chainFaults(store, read, size, {
    threads: 1,
    ...(trajectories !== undefined && { trajectoryIds: trajectories }),
    onProgress: (done, total) => onProgress?.('verifying entries', done, total),
  });
  const faults = [
    ...chains,
    ...unreadableFaults(read, chains),
    ...(await logFaults(store, read, size)),
    ...(checked !== undefined && isFault(checked) ? [checked] : []),
  ];
  const { latest } = collected;
  const { until } = options;
  const asOf = until === undefined || latest === undefined || latest < until ? latest : until;
  return {
    collected,
    size,
    root: Buffer.from(read.root).toString('hex'),
    ...(asOf !== undefined && { asOf }),
    faults,
    ...(checked !== undefined && !isFault(checked) && { checkpoint: checked }),
  };
}

function scopeOf({ since, until, trajectories }: EvidenceOptions): Scope {
  return {
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(trajectories !== undefined && { trajectories: new Set(trajectories) }),
  };
}

async function sizeOf(store: LogStore, wanted: number | undefined): Promise<number> {
  const logged = wanted === undefined ? await integrateLog(store) : await store.logSize();
  if (wanted === undefined) return logged;
  if (Number.isSafeInteger(wanted) && wanted >= 1 && wanted <= logged) return wanted;
  throw new ComplianceError(
    'not_found',
    `The log has ${logged} entries with a position, and the report asks for the first ${wanted}. Pass a size from 1 to ${logged}, or none.`,
  );
}
