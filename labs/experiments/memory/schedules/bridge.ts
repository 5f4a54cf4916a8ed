import { ISOS, type Iso, level } from '../isolation/index.ts';
import { conflicts, find } from './detect.ts';
import { type ExecutedStep, type Execution, execute, type Version } from './execute.ts';
import { type Bytes, RandomDraws, requireCount } from './random-draws.ts';
import type { Grid, Row } from './row.ts';
import { callbackRow, judgeRow, type Schedule, type Step, tableOf } from './schedule.ts';

/**
 * π_J of Lemma 4, on an execution. The first judgement of a question writes its row in the judge
 * log, if absent. Each other judgement reads that row, and a callback reads its own row. The first
 * judgement is the first one of a transaction that is not aborted by then. The versions that a read
 * sees come from the image alone, never from the votes.
 */
export function bridge(execution: Execution, iso: Iso): Execution {
  const image = new Image(execution, iso);
  return image.made();
}

class Image {
  readonly #execution: Execution;
  readonly #iso: Iso;
  readonly #starts = new Map<number, number>();
  readonly #commits = new Map<number, number>();
  readonly #aborted = new Set<number>();
  /** The row of each question, with its writer and its version. */
  readonly #firsts = new Map<string, { readonly tx: number; readonly made: Version }>();
  readonly #makers: Map<Version, number>;

  constructor(execution: Execution, iso: Iso) {
    this.#execution = execution;
    this.#iso = iso;
    this.#makers = new Map(execution.makers);
  }

  made(): Execution {
    const done = this.#execution.done.map((one, at) => this.#imageOf(one, at));
    const versions = new Map(
      [...this.#execution.versions].filter(([item]) => tableOf(item) !== 'judge_log'),
    );
    for (const [row, { tx, made }] of this.#firsts)
      if (this.#commits.has(tx)) versions.set(row, [0, made]);
    return { ...this.#execution, done, versions, makers: this.#makers };
  }

  #imageOf(one: ExecutedStep, at: number): ExecutedStep {
    const { tx } = one;
    if (one.kind === 'begin') this.#starts.set(tx, at);
    if (one.kind === 'commit') this.#commits.set(tx, at);
    if (one.kind === 'abort') this.#aborted.add(tx);
    if (one.kind === 'callback') return { tx, kind: 'read', item: callbackRow(one.handle), saw: 0 };
    if (one.kind !== 'judge') return one;
    const row = judgeRow(one.key);
    const first = this.#firsts.get(row);
    if (first !== undefined && !this.#aborted.has(first.tx))
      return { tx, kind: 'read', item: row, saw: this.#isSeen(first.tx, tx) ? first.made : 0 };
    const made = this.#makers.size + 1_000_000;
    this.#makers.set(made, tx);
    this.#firsts.set(row, { tx, made });
    return { tx, kind: 'write', item: row, made };
  }

  #isSeen(writer: number, reader: number): boolean {
    const committed = this.#commits.get(writer);
    if (writer === reader) return true;
    return committed !== undefined && (this.#iso !== 'SI' || committed < this.#starts.get(reader)!);
  }
}

/** The checks of a schedule and its image. */
export interface BridgeChecks {
  /** The image has begins, reads, writes, commits and aborts only. */
  readonly isClassical: boolean;
  /** The conflict graphs on the operands are one. */
  readonly keepsConflicts: boolean;
  /**
   * For each question: its judgements differ iff its row has a fuzzy read or an insert phantom
   * (equation 2).
   */
  readonly isEquivalent: boolean;
  /**
   * Each question has exactly one row of its own. A transaction that adds a vote to the log writes
   * the row, and a transaction that finds a vote reads it.
   */
  readonly keepsKeys: boolean;
  /** Number of questions with differing judgements. */
  readonly differing: number;
}

/** Executes a schedule and looks at its image. */
export function checkBridge(steps: Schedule, iso: Iso, h1 = true): BridgeChecks {
  const execution = execute(steps, level(iso), { h1 });
  const image = bridge(execution, iso);
  const keys = [...new Set(steps.flatMap((step) => (step.kind === 'judge' ? [step.key] : [])))];
  const rows = image.done.flatMap((one, i) => {
    const before = execution.done[i]!;
    if (before.kind !== 'judge' || (one.kind !== 'write' && one.kind !== 'read')) return [];
    const isFaithful =
      one.kind === 'write'
        ? before.made !== undefined
        : before.made === undefined && (one.saw !== 0) === (before.saw !== 0);
    return [{ key: before.key, row: one.item, isFaithful }];
  });
  const differ = new Set(find('N1', execution).flatMap(({ items }) => items));
  const unstable = new Set(
    [...find('P2', image), ...find('P3', image)].flatMap(({ items }) => items),
  );
  return {
    isClassical: image.done.every(({ kind }) =>
      ['begin', 'read', 'write', 'commit', 'abort'].includes(kind),
    ),
    keepsConflicts: conflictText(execution) === conflictText(image),
    isEquivalent: keys.every((key) => differ.has(judgeRow(key)) === unstable.has(judgeRow(key))),
    keepsKeys: rows.every(
      (a) => a.isFaithful && rows.every((b) => (a.key === b.key) === (a.row === b.row)),
    ),
    differing: differ.size,
  };
}

function conflictText(execution: Execution): string {
  const edges = conflicts(execution).filter(({ item }) => tableOf(item) === 'facts');
  return edges
    .map(({ from, kind, to, item }) => `${from} ${kind} ${to} ${item}`)
    .sort()
    .join('\n');
}

const CHECKS = ['isClassical', 'keepsConflicts', 'isEquivalent', 'keepsKeys'] as const;

/**
 * Table 23, "lemma bridge" (Lemma 4): random schedules of twelve events, under each level of the
 * chain. The paper prints a rate for each of three checks, and no rate of a level.
 */
export function bridgeGrid(random: Bytes, schedules = 1_000): Grid {
  requireCount(schedules, 'schedules');
  const all = drawn(random, schedules);
  const rows = ISOS.flatMap((iso) => {
    const checked = all.map((steps) => checkBridge(steps, iso));
    return CHECKS.map(
      (check): Row => ({
        cell: { check, level: iso },
        expected: 1,
        found: checked.filter((one) => one[check]).length / schedules,
      }),
    );
  });
  return { name: 'judge-callback bridge', source: 'Lemma 4, B.1, Table 23', isExact: true, rows };
}

/** The schedules of the grid, as chance has them. */
export function drawn(random: Bytes, schedules: number): readonly Schedule[] {
  const chance = new RandomDraws(random);
  return Array.from({ length: schedules }, () => twelve(chance));
}

/** Twelve events of three transactions. Each transaction ends. */
function twelve(chance: RandomDraws): Schedule {
  const sizes = [1, 1, 1];
  for (let i = 0; i < 6; i++) sizes[chance.below(3)]! += 1;
  return chance.merged(
    sizes.map((size, i): Step[] => [
      ...Array.from({ length: size }, () => event(i + 1, chance)),
      { tx: i + 1, kind: chance.isSo(0.85) ? 'commit' : 'abort' },
    ]),
  );
}

function event(tx: number, chance: RandomDraws): Step {
  switch (chance.oneOf(['read', 'write', 'judge', 'judge', 'callback'] as const)) {
    case 'read':
      return { tx, kind: 'read', item: chance.oneOf(['x', 'y']) };
    case 'write':
      return { tx, kind: 'write', item: chance.oneOf(['x', 'y']) };
    case 'judge':
      return { tx, kind: 'judge', key: chance.oneOf(['R,θ', 'R,θ′']), isLogged: true };
    case 'callback':
      return { tx, kind: 'callback', handle: 'h' };
  }
}
