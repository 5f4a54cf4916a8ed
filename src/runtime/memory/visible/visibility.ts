import { type Json, RecentMap } from '#base';
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

/** A memory that is looked into: what is shared, or what a branch has of its own. */
export interface Level {
  /** Absent: what is shared. */
  readonly branch?: string;
  /** Up to when it is seen, which is where the branch of the level before begins. Absent of the first one. */
  readonly until?: Instant;
  /** Partitions that are seen up to a later time than `until`: the source had changed them by then, and somebody with a clock far ahead had before. */
  readonly ahead?: ReadonlyMap<string, Ahead>;
}

/** A partition that is seen up to a time of its own. */
export type Ahead = Pick<PartitionName, 'space' | 'subject' | 'predicate'> & { readonly until: Instant };

/** The memories that a trajectory sees, its own first; what is shared is the last one. No `until` is greater than one before it. */
export type Line = readonly [Level, ...Level[]];

/** What everybody sees who is in no branch. */
export const SHARED: Line = [{}];

/**
 * As far as a system time may be ahead of where a branch begins for all partitions to be seen up to it: a partition that was changed in the same tick
 * has a time of its own, a little ahead. One that is further ahead counts for its own partition alone, so that a clock that is far ahead lets nothing else in.
 */
const AHEAD_MICROS = 1_000_000;
const PAGE = 1_000;

/** Trajectories whose memories are kept; more only cost reading where they begin again. */
const LINES_MAX = 4_096;

/** Finds out which memories trajectories see. What is found never changes, and is kept as long as it is asked for now and then. */
export class Lines {
  readonly #store: LedgerStore;
  readonly #lines: RecentMap<string, Line>;

  /** `max`: how many are kept at least. */
  constructor(store: LedgerStore, max: number = LINES_MAX) {
    this.#store = store;
    this.#lines = new RecentMap(max);
  }

  /** Undefined where it has to be read first. */
  known(trajectoryId: string): Line | undefined {
    return this.#lines.get(trajectoryId);
  }

  /**
   * A branch has a memory of its own, and sees what its source saw where it begins. Who was delegated to sees and says what the one who
   * delegated does: what a branch passes on stays inside of it.
   *
   * @throws RuntimeError `not_found` where it, or what it comes from, is not in the store; `invalid_ledger` where it comes from itself
   */
  of(trajectoryId: string): Promise<Line> {
    return this.#of(trajectoryId, new Set());
  }

  /** `path`: those that led to it. */
  async #of(trajectoryId: string, path: ReadonlySet<string>): Promise<Line> {
    const known = this.#lines.get(trajectoryId);
    if (known !== undefined) return known;
    if (path.has(trajectoryId)) throw inCircle(trajectoryId);
    const line = await this.#read(trajectoryId, await this.#entry(trajectoryId, 0), new Set([...path, trajectoryId]));
    this.#lines.set(trajectoryId, line);
    return line;
  }

  async #read(trajectoryId: string, beginning: Payload, path: ReadonlySet<string>): Promise<Line> {
    if (beginning.kind === 'branch') {
      const source = (beginning as BranchPayload).source_trajectory_id;
      const [{ branch }, ...rest] = await this.#of(source, path);
      const point = await this.#point(beginning as BranchPayload, rest[0]);
      return [{ branch: trajectoryId }, { ...(branch !== undefined && { branch }), ...point }, ...rest];
    }
    const { delegated_from: from } = beginning as RootPayload;
    return from === undefined ? SHARED : this.#of(from.trajectory_id, path);
  }

  /**
   * Up to when a source is seen: what its own trajectory had changed where the branch begins is, by its place there and whatever the clocks said; what
   * others had, by time. All of the source's entries up to there are looked through, once for each branch. Nothing is seen less far than in
   * the memory above, which the source saw so.
   */
  async #point(
    { source_trajectory_id, source_commit_id }: BranchPayload,
    above: Level | undefined,
  ): Promise<Pick<Level, 'until' | 'ahead'>> {
    const row = await this.#store.resolve(source_commit_id);
    if (row === undefined) throw notThere(source_commit_id);
    const { at } = readRow(row).payload;
    const changes: (readonly [BlobRef, Instant])[] = [];
    for (let from = 0; from <= row.seq; from += PAGE) {
      const limit = Math.min(PAGE, row.seq + 1 - from);
      for (const each of await this.#store.entries(source_trajectory_id, { from, limit }))
        if (mayBeAhead(each, at))
          for (const { partition, system_time } of (readRow(each).payload as CommitPayload).delta.beliefs)
            if (system_time > at) changes.push([partition, system_time]);
    }
    const latest = addMicros(at, AHEAD_MICROS);
    const near = changes.map(([, time]) => time).filter((time) => time <= latest);
    const until = [above?.until ?? at, ...near].reduce(maxInstant, at);
    // What was ahead where the source began may be passed by now, and then it is seen as far as everything.
    const ahead = new Map([...(above?.ahead ?? [])].filter(([, one]) => one.until > until));
    for (const [partition, time] of changes) {
      const name = time > until ? await this.#nameOf(partition) : undefined;
      if (name === undefined) continue;
      const key = aheadKey(name);
      ahead.set(key, { ...name, until: maxInstant(time, ahead.get(key)?.until ?? time) });
    }
    return { until, ...(ahead.size > 0 && { ahead }) };
  }

  /** Undefined where it was erased: nobody sees it then. */
  async #nameOf({ $blob }: BlobRef): Promise<Omit<Ahead, 'until'> | undefined> {
    const text = await this.#store.blob($blob);
    if (text === undefined) return undefined;
    const { space, subject, predicate } = (readCanonical(text) as unknown as { value: PartitionName }).value;
    return { space, subject, predicate };
  }

  async #entry(trajectoryId: string, seq: number): Promise<Payload> {
    const [row] = await this.#store.entries(trajectoryId, { from: seq, limit: 1 });
    if (row === undefined) throw notThere(trajectoryId);
    return readRow(row).payload;
  }
}

/** Up to when a partition is seen there; undefined of the first memory of a line. */
export function untilOf({ until, ahead }: Level, name: Omit<Ahead, 'until'>): Instant | undefined {
  return ahead?.get(aheadKey(name))?.until ?? until;
}

/** Whether it is a commit that may have changed something at a later time than that; of most the text says that it has not. */
function mayBeAhead({ kind, payload }: EntryRow, at: Instant): boolean {
  if (kind !== 'commit') return false;
  for (const [, time] of payload.matchAll(/"system_time":"([^"]*)"/g)) if ((time as string) > at) return true;
  return false;
}

function aheadKey({ space, subject, predicate }: Omit<Ahead, 'until'>): string {
  return JSON.stringify([space, subject, predicate]);
}

/**
 * What is seen of one partition, of what each memory of a line has of it: rows of the source up to where the branch begins, then those of
 * the branch. What a source closed later is open in the branch; what the branch has taken over as rows of its own stands there alone.
 *
 * `since`: of each memory that has the partition of its own, until when it has what its source had (`PartitionState`).
 */
export function seen(
  line: Line,
  name: Omit<Ahead, 'until'>,
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
    const next = own ?? (above && untilOf(above, name));
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
    `The trajectory ${id} would begin with itself, and so nobody can tell what is believed there. Verify the ledger.`,
    { evidence: { id } satisfies Record<string, Json> },
  );
}

function notThere(id: string): RuntimeError {
  return new RuntimeError('not_found', `The store has no ${id}, and so nobody can tell what is believed there.`, {
    evidence: { id } satisfies Record<string, Json>,
  });
}
