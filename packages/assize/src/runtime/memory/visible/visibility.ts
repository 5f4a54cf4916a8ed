import { GenerationalMap, type Json } from '#base';
import { addMicros, type Instant, maxInstant, readCanonical } from '#canon';
import {
  type BlobRef,
  type BranchPayload,
  type CommitPayload,
  type EntryRow,
  type FactVersion,
  type LedgerStore,
  OPEN_END,
  type PartitionName,
  type Payload,
  type RootPayload,
  readRow,
} from '#ledger';
import { RuntimeError } from '../../errors.ts';

/** A memory of a visibility chain: the shared memory, or that of a branch. */
export interface VisibleMemory {
  /** Absent for the shared memory. */
  readonly branch?: string;
  /**
   * The time up to which it is visible: the start of the branch before it in the chain. Absent for
   * the first memory.
   */
  readonly until?: Instant;
  /**
   * Partitions that are visible up to a later time than `until`: the source had changed them by
   * then, after a writer with a clock far ahead.
   */
  readonly lateChanges?: ReadonlyMap<string, LateChange>;
}

/** A partition that is visible up to a time of its own. */
export type LateChange = Pick<PartitionName, 'space' | 'subject' | 'predicate'> & {
  readonly until: Instant;
};

/**
 * The memories that a trajectory sees, its own first and the shared one last. No `until` is greater
 * than the one before it.
 */
export type VisibilityChain = readonly [VisibleMemory, ...VisibleMemory[]];

/** The visibility chain outside of any branch. */
export const SHARED: VisibilityChain = [{}];

/**
 * Maximum by which a system time may be after the start of a branch and still extend the visibility
 * of all partitions. A partition that was changed in the same tick has a time slightly ahead. A
 * time further ahead extends only its own partition, so a clock that is far ahead reveals nothing
 * else.
 */
const AHEAD_MICROS = 1_000_000;
const PAGE = 1_000;

/** Number of cached visibility chains. Evicted chains are read again. */
const LINES_MAX = 4_096;

/**
 * Finds the visibility chains of trajectories. A chain never changes, and is cached while it is
 * used now and then.
 */
export class VisibilityChains {
  readonly #store: LedgerStore;
  readonly #lines: GenerationalMap<string, VisibilityChain>;

  /** `max`: minimum number of cached chains. */
  constructor(store: LedgerStore, max: number = LINES_MAX) {
    this.#store = store;
    this.#lines = new GenerationalMap(max);
  }

  /** Undefined if it must be read first. */
  known(trajectoryId: string): VisibilityChain | undefined {
    return this.#lines.get(trajectoryId);
  }

  /**
   * The visibility chain of a trajectory. A branch has its own memory, and sees its source's memory
   * as of the branch entry. A delegated trajectory shares the memory of its parent. Inside a
   * branch, delegated trajectories share the branch's memory.
   *
   * @throws RuntimeError `not_found` if the trajectory or one of its sources is not in the store;
   * `invalid_ledger` if the trajectory is its own source
   */
  of(trajectoryId: string): Promise<VisibilityChain> {
    return this.#of(trajectoryId, new Set());
  }

  /** `path`: the trajectories that led to it. */
  async #of(trajectoryId: string, path: ReadonlySet<string>): Promise<VisibilityChain> {
    const known = this.#lines.get(trajectoryId);
    if (known !== undefined) return known;
    if (path.has(trajectoryId)) throw inCircle(trajectoryId);
    const line = await this.#read(
      trajectoryId,
      await this.#entry(trajectoryId, 0),
      new Set([...path, trajectoryId]),
    );
    this.#lines.set(trajectoryId, line);
    return line;
  }

  async #read(
    trajectoryId: string,
    beginning: Payload,
    path: ReadonlySet<string>,
  ): Promise<VisibilityChain> {
    if (beginning.kind === 'branch') {
      const source = (beginning as BranchPayload).source_trajectory_id;
      const [{ branch }, ...rest] = await this.#of(source, path);
      const point = await this.#point(beginning as BranchPayload, rest[0]);
      return [
        { branch: trajectoryId },
        { ...(branch !== undefined && { branch }), ...point },
        ...rest,
      ];
    }
    const { delegated_from: from } = beginning as RootPayload;
    return from === undefined ? SHARED : this.#of(from.trajectory_id, path);
  }

  /**
   * The time up to which a source is visible. Changes of the source's own trajectory count by
   * position before the branch entry, regardless of the clocks; changes of others count by time.
   * Reads all of the source's entries up to there, once for each branch. No memory is visible less
   * far than in the source's own chain.
   */
  async #point(
    { source_trajectory_id, source_commit_id }: BranchPayload,
    above: VisibleMemory | undefined,
  ): Promise<Pick<VisibleMemory, 'until' | 'lateChanges'>> {
    const row = await this.#store.resolve(source_commit_id);
    if (row === undefined) throw notThere(source_commit_id);
    const { at } = readRow(row).payload;
    const changes: (readonly [BlobRef, Instant])[] = [];
    for (let from = 0; from <= row.seq; from += PAGE) {
      const limit = Math.min(PAGE, row.seq + 1 - from);
      for (const each of await this.#store.entries(source_trajectory_id, { from, limit }))
        if (mayBeAhead(each, at))
          for (const { partition, system_time } of (readRow(each).payload as CommitPayload).delta
            .beliefs)
            if (system_time > at) changes.push([partition, system_time]);
    }
    const latest = addMicros(at, AHEAD_MICROS);
    const near = changes.map(([, time]) => time).filter((time) => time <= latest);
    const until = [above?.until ?? at, ...near].reduce(maxInstant, at);
    // Partitions that were ahead where the source starts may no longer be ahead. They are then
    // visible like all others.
    const ahead = new Map([...(above?.lateChanges ?? [])].filter(([, one]) => one.until > until));
    for (const [partition, time] of changes) {
      const name = time > until ? await this.#nameOf(partition) : undefined;
      if (name === undefined) continue;
      const key = aheadKey(name);
      ahead.set(key, { ...name, until: maxInstant(time, ahead.get(key)?.until ?? time) });
    }
    return { until, ...(ahead.size > 0 && { lateChanges: ahead }) };
  }

  /** Undefined if the name was erased: the partition is then invisible. */
  async #nameOf({ $blob }: BlobRef): Promise<Omit<LateChange, 'until'> | undefined> {
    const text = await this.#store.blob($blob);
    if (text === undefined) return undefined;
    const { space, subject, predicate } = (
      readCanonical(text) as unknown as { value: PartitionName }
    ).value;
    return { space, subject, predicate };
  }

  async #entry(trajectoryId: string, seq: number): Promise<Payload> {
    const [row] = await this.#store.entries(trajectoryId, { from: seq, limit: 1 });
    if (row === undefined) throw notThere(trajectoryId);
    return readRow(row).payload;
  }
}

/** The time up to which a partition is visible there; undefined for the first memory of a chain. */
export function visibleUntil(
  { until, lateChanges }: VisibleMemory,
  name: Omit<LateChange, 'until'>,
): Instant | undefined {
  return lateChanges?.get(aheadKey(name))?.until ?? until;
}

/**
 * Whether an entry is a commit that may have changed a fact after that time. The text of most
 * entries shows that they have not.
 */
function mayBeAhead({ kind, payload }: EntryRow, at: Instant): boolean {
  if (kind !== 'commit') return false;
  for (const [, time] of payload.matchAll(/"system_time":"([^"]*)"/g))
    if ((time as string) > at) return true;
  return false;
}

function aheadKey({ space, subject, predicate }: Omit<LateChange, 'until'>): string {
  return JSON.stringify([space, subject, predicate]);
}

/**
 * The visible rows of one partition, from each memory of a chain: rows of the source up to the
 * start of the branch, then those of the branch. Rows that the source closed later are open in the
 * branch. If the branch has inherited the rows as its own, only its own rows count.
 *
 * `since`: for each memory with its own partition, the time up to which it has the source's rows
 * (`PartitionState`).
 */
export function visibleRows(
  line: VisibilityChain,
  name: Omit<LateChange, 'until'>,
  rowsOf: (level: number) => readonly FactVersion[],
  since: (level: number) => Instant | undefined,
): FactVersion[] {
  const found: FactVersion[] = [];
  let until: Instant | undefined;
  let isTakenOver = false;
  for (const level of line.keys()) {
    for (const row of rowsOf(level)) {
      if (until === undefined || isBefore(row, until)) found.push(row);
      else if (row.system_time_start <= until && (row.row_kind === 'audit' || !isTakenOver))
        found.push({ ...row, system_time_end: OPEN_END });
    }
    const own = since(level);
    isTakenOver ||= own !== undefined;
    const above = line[level + 1];
    const next = own ?? (above && visibleUntil(above, name));
    if (next !== undefined && (until === undefined || next < until)) until = next;
  }
  return found;
}

function isBefore({ row_kind, system_time_end }: FactVersion, until: Instant): boolean {
  return row_kind === 'current' && system_time_end <= until;
}

function inCircle(id: string): RuntimeError {
  return new RuntimeError(
    'invalid_ledger',
    `The trajectory ${id} would branch from itself, so its facts are unknown. Verify the ledger.`,
    { evidence: { id } satisfies Record<string, Json> },
  );
}

function notThere(id: string): RuntimeError {
  return new RuntimeError(
    'not_found',
    `The store has no ${id}, so its facts are unknown. Verify the ledger.`,
    {
      evidence: { id } satisfies Record<string, Json>,
    },
  );
}
