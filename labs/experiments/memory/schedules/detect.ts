import { arg, checkArgument } from 'assize/internal/base';
import type { Anomaly } from '../isolation/index.ts';
import { ExperimentError } from './errors.ts';
import type { ExecutedStep, Execution, Version } from './execute.ts';
import { judgeRow, tableOf } from './schedule.ts';

/** A found anomaly: its transactions and its rows. */
export interface FoundAnomaly {
  readonly txs: readonly number[];
  readonly items: readonly string[];
}

/** The anomalies that a history alone can show. N2 concerns values, see `isDrifted`. */
export type Visible = Exclude<Anomaly, 'N2'> | 'A3' | 'callback';

/**
 * All occurrences of an anomaly in an execution, between committed transactions. P0 and P1 also
 * concern transactions that abort.
 *
 * - `P0`: a transaction overwrites a version before the version's writer has ended.
 * - `P1`: a transaction sees a version before the version's writer has ended.
 * - `P2`: one transaction sees two versions of a row, neither its own (Berenson's A2).
 * - `P3`: the result of a predicate lacks a row that another transaction committed before the
 *   reader's commit. This is the phenomenon and not the second read (`A3`): a snapshot
 *   answers that like the first. In Berenson's Table 4, as in the paper's guards, SI excludes P2
 *   and admits P3.
 * - `P4`: a transaction overwrites a version that is later than the version it read last.
 * - `A5A`: one transaction sees a row from before another's commit, and a second row from after it.
 *   The other transaction wrote both rows.
 * - `A5B`: two transactions each read the earlier version of a row that the other writes. They
 *   write different rows.
 * - `N1`: two judgements of one question differ.
 * - `callback`: a transaction writes a row before it reads its callback (Table 9).
 * @throws ExperimentError `unknown_anomaly`
 */
export function find(anomaly: Visible, execution: Execution): readonly FoundAnomaly[] {
  checkArgument(arg.text, anomaly, 'anomaly');
  if (!Object.hasOwn(DETECTORS, anomaly))
    throw new ExperimentError(
      'unknown_anomaly',
      `The detectors are ${Object.keys(DETECTORS).join(', ')}.`,
      {
        evidence: { anomaly },
      },
    );
  return DETECTORS[anomaly](new History(execution));
}

type Of<Kind extends ExecutedStep['kind']> = Extract<ExecutedStep, { readonly kind: Kind }> & {
  readonly at: number;
};

/** An execution by kind of step: reads, scans and writes, with their positions. */
class History {
  readonly reads: readonly Of<'read'>[];
  readonly scans: readonly Of<'scan'>[];
  readonly writes: readonly Of<'write'>[];
  readonly judges: readonly Of<'judge'>[];
  readonly callbacks: readonly Of<'callback'>[];
  readonly #execution: Execution;
  readonly #ends = new Map<number, number>();

  constructor(execution: Execution) {
    this.#execution = execution;
    const placed = execution.done.map((done, at) => ({ ...done, at }));
    const of = <Kind extends ExecutedStep['kind']>(kind: Kind): readonly Of<Kind>[] =>
      placed.filter((done): done is Of<Kind> & typeof done => done.kind === kind);
    this.reads = of('read');
    this.scans = of('scan');
    this.writes = of('write');
    this.judges = of('judge');
    this.callbacks = of('callback');
    for (const { tx, at } of [...of('commit'), ...of('abort')]) this.#ends.set(tx, at);
  }

  isCommitted(tx: number): boolean {
    return this.#execution.committed.has(tx);
  }

  endOf(tx: number): number {
    return this.#ends.get(tx) ?? Number.POSITIVE_INFINITY;
  }

  makerOf(version: Version): number | undefined {
    return this.#execution.makers.get(version);
  }

  /** Committed versions of a row after the first, each with its writer. */
  versionsOf(
    item: string,
  ): readonly { readonly made: Version; readonly tx: number; readonly rank: number }[] {
    return (this.#execution.versions.get(item) ?? [0])
      .map((made, rank) => ({ made, tx: this.makerOf(made) ?? 0, rank }))
      .slice(1);
  }

  /** The place of a version among those that were committed; −1 for one that was not. */
  rankOf(item: string, version: Version): number {
    return version === 0 ? 0 : (this.#execution.versions.get(item) ?? []).indexOf(version);
  }

  get rows(): readonly string[] {
    return [...this.#execution.versions.keys()];
  }

  /** Reads of committed transactions that saw what was not their own. */
  get foreignReads(): readonly Of<'read'>[] {
    return this.reads.filter(({ tx, saw }) => this.isCommitted(tx) && this.makerOf(saw) !== tx);
  }
}

const DETECTORS: Readonly<Record<Visible, (history: History) => readonly FoundAnomaly[]>> = {
  P0: (history) =>
    pairs(history.writes, history.writes, (first, second) =>
      first.item === second.item &&
      first.tx !== second.tx &&
      first.at < second.at &&
      second.at < history.endOf(first.tx)
        ? [first.item]
        : undefined,
    ),

  P1: (history) =>
    pairs(history.reads, history.writes, (read, write) =>
      read.saw === write.made && read.tx !== write.tx && read.at < history.endOf(write.tx)
        ? [read.item]
        : undefined,
    ),

  P2: (history) =>
    pairs(history.foreignReads, history.foreignReads, (first, second) =>
      first.tx === second.tx &&
      first.item === second.item &&
      first.at < second.at &&
      first.saw !== second.saw
        ? [first.item]
        : undefined,
    ),

  P3: (history) => [
    ...lacking(
      history,
      history.scans.map((scan) => ({ ...scan, covers: (item) => tableOf(item) === scan.table })),
    ),
    ...lacking(
      history,
      // A read of an absent row asks whether any row has that key. Every row of the facts exists
      // from the start.
      history.reads
        .filter(({ item, saw }) => saw === 0 && tableOf(item) !== 'facts')
        .map((read) => ({ ...read, rows: new Map(), covers: (item) => item === read.item })),
    ),
  ],

  A3: (history) =>
    pairs(history.scans, history.scans, (first, second) =>
      first.tx === second.tx &&
      history.isCommitted(first.tx) &&
      first.table === second.table &&
      first.at < second.at
        ? some(
            [...second.rows].filter(
              ([item, saw]) => history.makerOf(saw) !== first.tx && first.rows.get(item) !== saw,
            ),
          )
        : undefined,
    ),

  P4: (history) =>
    history.writes.flatMap(({ tx, item, at, made }) => {
      const read = history.foreignReads.findLast(
        (one) => one.tx === tx && one.item === item && one.at < at,
      );
      const own = history.rankOf(item, made);
      // Only the last of several writes of one transaction is committed. The others have no rank.
      if (read === undefined || own < 0) return [];
      const seen = history.rankOf(item, read.saw);
      const lost = history
        .versionsOf(item)
        .filter((one) => one.tx !== tx && one.rank > seen && one.rank < own);
      return lost.map((one) => ({ txs: [tx, one.tx], items: [item] }));
    }),

  A5A: (history) =>
    pairs(history.foreignReads, history.foreignReads, (old, fresh) => {
      if (old.tx !== fresh.tx || old.item === fresh.item) return undefined;
      const split = history
        .versionsOf(old.item)
        .filter(({ tx, rank }) => tx !== old.tx && rank > history.rankOf(old.item, old.saw))
        .some(({ tx }) =>
          history
            .versionsOf(fresh.item)
            .some(
              (version) =>
                version.tx === tx && version.rank <= history.rankOf(fresh.item, fresh.saw),
            ),
        );
      return split ? [old.item, fresh.item] : undefined;
    }),

  A5B: (history) =>
    pairs(history.foreignReads, history.foreignReads, (one, other) => {
      if (one.tx >= other.tx || one.item === other.item) return undefined;
      const misses = (read: Of<'read'>, by: number): boolean =>
        history
          .versionsOf(read.item)
          .some(({ tx, rank }) => tx === by && rank > history.rankOf(read.item, read.saw));
      const writes = (tx: number, item: string): boolean =>
        history.versionsOf(item).some((version) => version.tx === tx);
      const isSkew = misses(one, other.tx) && misses(other, one.tx);
      return isSkew && !writes(one.tx, one.item) && !writes(other.tx, other.item)
        ? [one.item, other.item]
        : undefined;
    }),

  N1: (history) => {
    const judged = history.judges.filter(({ tx }) => history.isCommitted(tx));
    return pairs(judged, judged, (first, second) =>
      first.key === second.key && first.at < second.at && first.vote !== second.vote
        ? [judgeRow(first.key)]
        : undefined,
    );
  },

  callback: (history) =>
    pairs(history.writes, history.callbacks, (write, callback) =>
      write.tx === callback.tx && history.isCommitted(write.tx) && write.at < callback.at
        ? [write.item]
        : undefined,
    ),
};

interface Looked {
  readonly tx: number;
  readonly at: number;
  readonly rows: ReadonlyMap<string, Version>;
  readonly covers: (item: string) => boolean;
}

function lacking(history: History, looks: readonly Looked[]): readonly FoundAnomaly[] {
  return looks.flatMap((look) => {
    if (!history.isCommitted(look.tx)) return [];
    return history.rows.filter(look.covers).flatMap((item) => {
      const saw = look.rows.get(item) ?? 0;
      if (history.makerOf(saw) === look.tx) return [];
      const seen = history.rankOf(item, saw);
      return history
        .versionsOf(item)
        .filter(
          ({ tx, rank }) =>
            tx !== look.tx && rank > seen && history.endOf(tx) < history.endOf(look.tx),
        )
        .map(({ tx }) => ({ txs: [look.tx, tx], items: [item] }));
    });
  });
}

function pairs<A extends { readonly tx: number }, B extends { readonly tx: number }>(
  firsts: readonly A[],
  seconds: readonly B[],
  items: (first: A, second: B) => readonly string[] | undefined,
): readonly FoundAnomaly[] {
  return firsts.flatMap((first) =>
    seconds.flatMap((second) => {
      const on = items(first, second);
      return on === undefined ? [] : [{ txs: [...new Set([first.tx, second.tx])], items: on }];
    }),
  );
}

function some(rows: readonly (readonly [string, Version])[]): readonly string[] | undefined {
  return rows.length === 0 ? undefined : rows.map(([item]) => item);
}

/**
 * The reason why one transaction must precede another. The first wrote a version that the second
 * read or overwrote, or it read a version that the second overwrote.
 */
export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly kind: 'ww' | 'wr' | 'rw';
  readonly item: string;
}

/**
 * The conflict graph of committed transactions, by versions; scans conflict with every row of their
 * table.
 */
export function conflicts(execution: Execution): readonly Edge[] {
  const history = new History(execution);
  const looks = [
    ...history.reads.map(({ tx, item, saw }) => ({ tx, item, saw })),
    ...history.judges
      .filter(({ isLogged, made }) => isLogged && made === undefined)
      .map(({ tx, key, saw }) => ({ tx, item: judgeRow(key), saw })),
    ...history.scans.flatMap(({ tx, table, rows }) =>
      history.rows
        .filter((item) => tableOf(item) === table)
        .map((item) => ({ tx, item, saw: rows.get(item) ?? 0 })),
    ),
  ].filter(({ tx }) => history.isCommitted(tx));
  const edges = new Map<string, Edge>();
  const add = (edge: Edge): void => {
    if (edge.from !== edge.to) edges.set(`${edge.from} ${edge.kind} ${edge.to} ${edge.item}`, edge);
  };
  for (const item of history.rows) {
    const versions = history.versionsOf(item);
    for (const a of versions)
      for (const b of versions)
        if (a.rank < b.rank) add({ from: a.tx, to: b.tx, kind: 'ww', item });
    for (const look of looks.filter((one) => one.item === item)) {
      const seen = history.rankOf(item, look.saw);
      // A read of the transaction's own version shows nothing about other transactions.
      if (history.makerOf(look.saw) === look.tx) continue;
      for (const version of versions) {
        if (version.rank === seen) add({ from: version.tx, to: look.tx, kind: 'wr', item });
        if (version.rank > seen && version.tx !== look.tx)
          add({ from: look.tx, to: version.tx, kind: 'rw', item });
      }
    }
  }
  return [...edges.values()];
}

/** Whether no order of the transactions goes along all edges. */
export function isCyclic(edges: readonly Edge[]): boolean {
  let left = edges;
  for (;;) {
    const targets = new Set(left.map(({ to }) => to));
    const rest = left.filter(({ from }) => targets.has(from));
    if (rest.length === left.length) return left.length > 0;
    left = rest;
  }
}

/**
 * The basis of an agent's current fact: the cache holds the index of the row with the greatest
 * confidence (invariant I of Corollary 5).
 */
export interface Belief {
  readonly cache: string;
  readonly rows: readonly string[];
}

/**
 * N2: whether the cache names another row than the row with the greatest confidence, in the
 * committed values.
 */
export function isDrifted(belief: Belief, values: ReadonlyMap<string, number>): boolean {
  return values.get(belief.cache) !== strongest(belief, values);
}

/** The place of the row of greatest confidence; the first of equals. */
export function strongest({ rows }: Belief, values: ReadonlyMap<string, number>): number {
  const confidences = rows.map((row) => values.get(row) ?? 0);
  return confidences.indexOf(Math.max(...confidences));
}
