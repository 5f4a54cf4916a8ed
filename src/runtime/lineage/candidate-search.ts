import type { Hash } from '#ledger';
import type { Mark } from './entry-links.ts';
import { AT, FLAG, idWord, markWord, secondOf } from './link-words.ts';

export interface CandidateStart {
  /** One of these is given. */
  readonly mark?: Mark;
  readonly entries?: ReadonlySet<Hash>;
  readonly since?: string;
  readonly until?: string;
}

/**
 * Searches the words of entries, in the order of the log, for all that may derive from a start. It
 * finds every entry that `LineageWalk` finds, whatever derivations that follows.
 */
export class CandidateSearch {
  readonly #mark: number | undefined;
  readonly #entries: ReadonlySet<number>;
  readonly #since: number;
  readonly #until: number;
  readonly #found: Set<number> = new Set();
  readonly #rows: Set<number> = new Set();
  readonly #paths: Map<number, WrittenPaths> = new Map();
  /** The trajectories with a candidate that is neither pending nor rejected. */
  readonly #trajectories: Set<number> = new Set();
  readonly #positions: Set<number> = new Set();
  /** Each row that an entry writes, with the position of the entry at the same index. */
  readonly #writtenRows: number[] = [];
  readonly #writtenAt: number[] = [];

  constructor({ mark, entries, since, until }: CandidateStart) {
    this.#mark = mark && markWord(mark);
    this.#entries = new Set([...(entries ?? [])].map(idWord));
    this.#since = since === undefined ? 0 : secondOf(since);
    this.#until = until === undefined ? Number.POSITIVE_INFINITY : secondOf(until);
  }

  /**
   * The positions of the candidates, and of all other writers of their rows: of several writers, a
   * recall derives from the nearest.
   */
  positions(): number[] {
    const found = new Set(this.#positions);
    for (const [i, row] of this.#writtenRows.entries()) if (this.#rows.has(row)) found.add(this.#writtenAt[i]!);
    return [...found].sort((a, b) => a - b);
  }

  /** Visits the entry whose words start at `at`. */
  visit(words: Uint32Array, at: number, position: number): void {
    const flags = words[at + AT.flags]!;
    const from = at + AT.lists;
    const rows = from + words[at + AT.restsOn]!;
    const observed = rows + words[at + AT.rows]!;
    const marks = observed + words[at + AT.observed]!;
    const judgedBy = marks + words[at + AT.marks]!;
    const paths = judgedBy + words[at + AT.judgedBy]!;
    const end = at + words[at + AT.length]!;
    for (let i = rows; i < observed; i++) {
      this.#writtenRows.push(words[i]!);
      this.#writtenAt.push(position);
    }
    const isFound =
      ((flags & FLAG.isAnswer) !== 0 && this.#trajectories.has(words[at + AT.trajectory]!)) ||
      hasOne(words, from, rows, this.#found) ||
      hasOne(words, observed, marks, this.#rows) ||
      this.#isStart(words, at, marks, judgedBy) ||
      this.#touches(words, at, judgedBy, end);
    if (!isFound) return;
    this.#positions.add(position);
    this.#found.add(words[at + AT.id]!);
    for (let i = rows; i < observed; i++) this.#rows.add(words[i]!);
    if ((flags & FLAG.isOpen) !== 0) return;
    this.#trajectories.add(words[at + AT.trajectory]!);
    this.#spread(words, at, paths, end);
  }

  #isStart(words: Uint32Array, at: number, marks: number, end: number): boolean {
    const second = words[at + AT.second]!;
    if (second < this.#since || second > this.#until) return false;
    if (this.#entries.has(words[at + AT.id]!)) return true;
    if (this.#mark === undefined) return false;
    for (let i = marks; i < end; i++) if (words[i] === this.#mark) return true;
    return false;
  }

  /** Whether it writes an affected path, or was judged by one. */
  #touches(words: Uint32Array, at: number, paths: number, end: number): boolean {
    const flags = words[at + AT.flags]!;
    if ((flags & FLAG.inherits) !== 0) return this.#paths.has(words[paths]!);
    const written = this.#paths.get(words[at + AT.trajectory]!);
    if (written === undefined) return false;
    if (written.all || (flags & FLAG.anyPath) !== 0) return true;
    for (let i = paths; i < end; i += words[i]! + 2) {
      if (written.above.has(words[i + 1]!)) return true;
      for (let j = i + 1; j < i + 2 + words[i]!; j++) if (written.at.has(words[j]!)) return true;
    }
    return false;
  }

  #spread(words: Uint32Array, at: number, paths: number, end: number): void {
    const flags = words[at + AT.flags]!;
    const trajectory = words[at + AT.trajectory]!;
    const written = this.#paths.get(trajectory) ?? { at: new Set(), above: new Set(), all: false };
    // The paths of the source that a branch inherits are not told apart here.
    if ((flags & (FLAG.inherits | FLAG.anyPath)) !== 0) written.all = true;
    else
      for (let i = paths; i < end; i += words[i]! + 2) {
        written.at.add(words[i + 1]!);
        for (let j = i + 2; j < i + 2 + words[i]!; j++) written.above.add(words[j]!);
      }
    this.#paths.set(trajectory, written);
  }
}

interface WrittenPaths {
  readonly at: Set<number>;
  readonly above: Set<number>;
  /** Any path may be affected. */
  all: boolean;
}

function hasOne(words: Uint32Array, from: number, to: number, of: ReadonlySet<number>): boolean {
  if (of.size === 0) return false;
  for (let i = from; i < to; i++) if (of.has(words[i]!)) return true;
  return false;
}
