import { addMicros, type Instant, type Json, maxInstant, RecentMap } from '#canon';
import {
  type BranchPayload,
  type CommitPayload,
  type FactVersion,
  type LedgerStore,
  OPEN_END,
  type Payload,
  type RootPayload,
  readRow,
} from '#ledger';
import { RuntimeError } from '../errors.ts';

/** A memory that is looked into: what is shared, or what a branch has of its own. */
export interface Level {
  /** Absent: what is shared. */
  readonly branch?: string;
  /** Up to when it is seen, which is where the branch of the level before begins. Absent of the first one. */
  readonly until?: Instant;
}

/** The memories that a trajectory sees, its own first; what is shared is the last one. No `until` is greater than one before it. */
export type Line = readonly [Level, ...Level[]];

/** What everybody sees who is in no branch. */
export const SHARED: Line = [{}];

/** Changes of the source that are looked through for those whose system time is ahead of their entry's. */
const AHEAD_MICROS = 1_000_000;
const PAGE = 100;

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
      const [{ branch, until: _ }, ...rest] = await this.#of(source, path);
      const until = await this.#begins(beginning as BranchPayload, rest[0]?.until ?? '');
      return [{ branch: trajectoryId }, { ...(branch !== undefined && { branch }), until }, ...rest];
    }
    const { delegated_from: from } = beginning as RootPayload;
    return from === undefined ? SHARED : this.#of(from.trajectory_id, path);
  }

  /**
   * The time of the entry that a branch begins at, or the latest system time of what its source had changed by then, where that is greater: a
   * partition that was changed in the same tick has a time of its own, a little ahead. Not before `atLeast`.
   */
  async #begins({ source_trajectory_id, source_commit_id }: BranchPayload, atLeast: Instant): Promise<Instant> {
    const row = await this.#store.resolve(source_commit_id);
    if (row === undefined) throw notThere(source_commit_id);
    const { at } = readRow(row).payload;
    const since = addMicros(at, -AHEAD_MICROS);
    let latest = maxInstant(at, atLeast === '' ? at : atLeast);
    for (let to = row.seq + 1; to > 0; to -= PAGE) {
      const from = Math.max(0, to - PAGE);
      const rows = await this.#store.entries(source_trajectory_id, { from, limit: to - from });
      const payloads = rows.map((each) => readRow(each).payload).filter((payload) => payload.at >= since);
      for (const payload of payloads)
        for (const { system_time } of payload.kind === 'commit' ? (payload as CommitPayload).delta.beliefs : [])
          latest = maxInstant(latest, system_time);
      if (payloads.length < rows.length) break;
    }
    return latest;
  }

  async #entry(trajectoryId: string, seq: number): Promise<Payload> {
    const [row] = await this.#store.entries(trajectoryId, { from: seq, limit: 1 });
    if (row === undefined) throw notThere(trajectoryId);
    return readRow(row).payload;
  }
}

/**
 * What is seen of one partition, of what each memory of a line has of it: rows of the source up to where the branch begins, then those of
 * the branch. What a source closed later is open in the branch; what the branch has taken over as rows of its own stands there alone.
 *
 * `since`: of each memory that has the partition of its own, until when it has what its source had (`PartitionState`).
 */
export function seen(
  line: Line,
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
    const next = own ?? line[level + 1]?.until;
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
