import { arg, checkArgument } from 'assize/internal/base';
import { type Iso, isoAt, join, type Level, type Table } from '../isolation/index.ts';
import { callbackRow, judgeRow, type Schedule, type Step, tableOf } from './schedule.ts';

/** The level of an execution, or no level at all: that is below RC (Proposition 2). */
export type Discipline = Level | 'none';

/** A version of a row. 0 is the version before the schedule; in the logs, 0 is an absent row. */
export type Version = number;

/**
 * An executed step. A step of a waiting transaction is executed as soon as possible, so the order
 * can differ from the schedule.
 */
export type ExecutedStep = { readonly tx: number } & (
  | { readonly kind: 'read'; readonly item: string; readonly saw: Version }
  | { readonly kind: 'scan'; readonly table: Table; readonly rows: ReadonlyMap<string, Version> }
  | { readonly kind: 'write'; readonly item: string; readonly made: Version }
  | {
      readonly kind: 'judge';
      readonly key: string;
      readonly isLogged: boolean;
      readonly vote: number;
      /** 0 when the log had no vote to be seen. */
      readonly saw: Version;
      /** Set when this call put its vote into the log. */
      readonly made: Version | undefined;
    }
  | { readonly kind: 'callback'; readonly handle: string }
  /** When its first step was asked for, be it that this has to wait: a snapshot is of then. */
  | { readonly kind: 'begin' }
  | { readonly kind: 'commit' }
  | { readonly kind: 'abort'; readonly why: Abort }
);

/**
 * - `asked`: the schedule aborts the transaction.
 * - `deadlock`: the transaction would wait for a transaction that waits for it.
 * - `overwritten`: first updater wins; an earlier writer has committed since the transaction's
 *   snapshot.
 * - `unlogged`: the transaction depends on a judgement that is in no committed row (H1).
 */
export type Abort = 'asked' | 'deadlock' | 'overwritten' | 'unlogged';

/** The outcome of a schedule. */
export interface Execution {
  readonly done: readonly ExecutedStep[];
  readonly committed: ReadonlySet<number>;
  /** The committed versions of each row, in the order in which they came to be; 0 first. */
  readonly versions: ReadonlyMap<string, readonly Version[]>;
  /** The writer of a version. Version 0 has no writer. */
  readonly makers: ReadonlyMap<Version, number>;
  /** The committed values of rows that have one. */
  readonly values: ReadonlyMap<string, number>;
}

export interface ExecuteOptions {
  /** The values of rows before the schedule. */
  readonly initial?: ReadonlyMap<string, number>;
  /**
   * The judge's answer to a call. Without it no two answers are the same: the worst case
   * of an oracle (Definition 15).
   */
  readonly vote?: () => number;
  /**
   * Hypothesis H1 of Lemma 4: each judgement of a committing transaction has a row, committed no
   * later. A transaction that asks again, because the first asker has not committed, commits only
   * after the first asker.
   */
  readonly h1?: boolean;
}

/**
 * Executes a schedule under a level, table by table:
 *
 * - none: every write is visible to all immediately, and no transaction waits.
 * - RC: reads see the versions that are committed at the time of the read. A writer holds its row
 *   until its end, and other writers wait.
 * - SI: reads see the versions that were committed when the transaction began. A row that another
 *   transaction has written since cannot be written.
 * - SR: two-phase locking with locks on predicates. A transaction that would wait for itself is
 *   aborted.
 *
 * Under a level with callback, a transaction writes after its callback, even if the schedule has
 * the write first.
 *
 * The judge log is a table without a unique key, as in the paper. A call takes the vote that it
 * sees. The first call that finds no vote adds its own. A call that cannot see that vote asks the
 * judge again. A level must prevent this. A log that inserts if absent needs no level.
 */
export function execute(
  schedule: Schedule,
  discipline: Discipline,
  options: ExecuteOptions = {},
): Execution {
  checkArgument(arg.list(arg.object), schedule, 'schedule');
  checkArgument(arg.object, options, 'options');
  return new Run(
    schedule,
    discipline === 'none' ? discipline : join(discipline),
    options,
  ).execute();
}

interface Row {
  readonly no: Version;
  readonly tx: number;
  readonly value: number | undefined;
}

interface Committed extends Row {
  readonly at: number;
}

class Transaction {
  /** The last write of the transaction to each row. */
  readonly own = new Map<string, Row>();
  /** The value that the transaction has seen of each row with a value. */
  readonly seen = new Map<string, number>();
  /**
   * Rows of the judge log that others wrote and this transaction could not see. It therefore asked
   * the judge again.
   */
  readonly unlogged = new Set<string>();
  /** Steps that wait, the first of them for others to end. */
  readonly waiting: Step[] = [];
  /** Writes that wait for its callback. */
  readonly held: Step[] = [];
  readonly snapshot: number;
  callbacksToCome: number;
  isOver = false;

  constructor(snapshot: number, callbacksToCome: number) {
    this.snapshot = snapshot;
    this.callbacksToCome = callbacksToCome;
  }
}

class Run {
  readonly #schedule: Schedule;
  readonly #discipline: Discipline;
  readonly #options: ExecuteOptions;
  readonly #transactions = new Map<number, Transaction>();
  readonly #rows = new Map<string, Committed[]>();
  readonly #done: ExecutedStep[] = [];
  readonly #committed = new Set<number>();
  readonly #makers = new Map<Version, number>();
  readonly #writers = new Map<string, number>();
  readonly #readers = new Map<string, Set<number>>();
  readonly #scanners = new Map<Table, Set<number>>();
  #versions = 0;
  #votes = 0;
  #now = 0;

  constructor(schedule: Schedule, discipline: Discipline, options: ExecuteOptions) {
    this.#schedule = schedule;
    this.#discipline = discipline;
    this.#options = options;
  }

  execute(): Execution {
    for (const step of this.#schedule) {
      const transaction = this.#transaction(step.tx);
      if (transaction.isOver) continue;
      transaction.waiting.push(step);
      if (transaction.waiting.length === 1 && this.#goOn(step.tx)) this.#wake();
    }
    return {
      done: this.#done,
      committed: this.#committed,
      versions: new Map(
        [...this.#rows].map(([item, rows]) => [item, [0, ...rows.map(({ no }) => no)]]),
      ),
      makers: this.#makers,
      values: this.#values(),
    };
  }

  /**
   * Executes the waiting steps of a transaction until one must wait. Returns true if the
   * transaction has ended.
   */
  #goOn(tx: number): boolean {
    const transaction = this.#transaction(tx);
    for (;;) {
      const step = transaction.waiting[0];
      if (step === undefined) return false;
      if (this.#isHeld(transaction, step)) {
        transaction.held.push(transaction.waiting.shift()!);
        continue;
      }
      if (this.#blockers(step).size > 0) {
        if (!this.#waitsForItself(tx)) return false;
        this.#end(tx, { tx, kind: 'abort', why: 'deadlock' });
        return true;
      }
      transaction.waiting.shift();
      if (this.#do(transaction, step)) return true;
    }
  }

  /**
   * Resumes waiting transactions after the end of another one. A resumed transaction can end too.
   */
  #wake(): void {
    let ended = true;
    while (ended) {
      ended = false;
      for (const [tx, transaction] of this.#transactions)
        if (!transaction.isOver && transaction.waiting.length > 0 && this.#goOn(tx)) ended = true;
    }
  }

  #isHeld(transaction: Transaction, step: Step): boolean {
    const needsCallback = this.#discipline !== 'none' && this.#discipline.cb;
    return needsCallback && step.kind === 'write' && transaction.callbacksToCome > 0;
  }

  #isoAt(table: Table): Iso | 'none' {
    return this.#discipline === 'none' ? 'none' : isoAt(this.#discipline, table);
  }

  /** The transactions that must end before a step can run. */
  #blockers(step: Step): ReadonlySet<number> {
    const blockers = new Set<number>();
    const add = (tx: number | undefined): void => {
      if (tx !== undefined && tx !== step.tx) blockers.add(tx);
    };
    const row = rowOf(step);
    if (row !== undefined) {
      const iso = this.#isoAt(tableOf(row));
      // The judge log has no key that a lock on a row could use. Only SR locks absent rows.
      const writes = step.kind === 'write' || step.kind === 'judge';
      if (iso === 'SR' || (step.kind === 'write' && iso !== 'none')) add(this.#writers.get(row));
      if (iso === 'SR' && writes) {
        for (const tx of this.#readers.get(row) ?? []) add(tx);
        for (const tx of this.#scanners.get(tableOf(row)) ?? []) add(tx);
      }
    }
    if (step.kind === 'scan' && this.#isoAt(step.table) === 'SR')
      for (const [item, tx] of this.#writers) if (tableOf(item) === step.table) add(tx);
    return blockers;
  }

  #waitsForItself(tx: number): boolean {
    const met = new Set<number>();
    const leads = (from: number): boolean => {
      const step = this.#transaction(from).waiting[0];
      const blockers = step === undefined ? [] : [...this.#blockers(step)];
      return blockers.some((next) => {
        if (next === tx) return true;
        if (met.has(next)) return false;
        met.add(next);
        return leads(next);
      });
    };
    return leads(tx);
  }

  /** True when the transaction has ended by that. */
  #do(transaction: Transaction, step: Step): boolean {
    const { tx } = step;
    switch (step.kind) {
      case 'read':
        if (this.#isoAt(tableOf(step.item)) === 'SR') lock(this.#readers, step.item, tx);
        this.#done.push({ tx, kind: 'read', item: step.item, saw: this.#look(tx, step.item) });
        return false;
      case 'scan':
        this.#scan(tx, step.table);
        return false;
      case 'write':
        return this.#write(transaction, step);
      case 'judge':
        this.#judge(transaction, step);
        return false;
      case 'callback':
        transaction.callbacksToCome -= 1;
        this.#done.push({ tx, kind: 'callback', handle: step.handle });
        if (transaction.callbacksToCome === 0)
          transaction.waiting.unshift(...transaction.held.splice(0));
        return false;
      case 'commit':
        if (this.#options.h1 === true && !this.#isLogged(transaction)) {
          this.#end(tx, { tx, kind: 'abort', why: 'unlogged' });
        } else this.#end(tx, { tx, kind: 'commit' });
        return true;
      case 'abort':
        this.#end(tx, { tx, kind: 'abort', why: 'asked' });
        return true;
    }
  }

  #scan(tx: number, table: Table): void {
    if (this.#isoAt(table) === 'SR') lock(this.#scanners, table, tx);
    const items = new Set([...this.#rows.keys(), ...this.#transaction(tx).own.keys()]);
    const rows = new Map<string, Version>();
    for (const item of [...items].filter((one) => tableOf(one) === table).sort()) {
      const saw = this.#look(tx, item);
      if (saw !== 0) rows.set(item, saw);
    }
    this.#done.push({ tx, kind: 'scan', table, rows });
  }

  #write(transaction: Transaction, step: Step & { readonly kind: 'write' }): boolean {
    const { tx, item } = step;
    const value = typeof step.value === 'function' ? step.value(transaction.seen) : step.value;
    if (typeof step.value === 'function' && value === undefined) return false;
    const iso = this.#isoAt(tableOf(item));
    const isOverwritten =
      iso === 'SI' && (this.#rows.get(item)?.at(-1)?.at ?? 0) > transaction.snapshot;
    if (isOverwritten) {
      this.#end(tx, { tx, kind: 'abort', why: 'overwritten' });
      return true;
    }
    const made = this.#make(tx, item, value);
    if (iso !== 'none') this.#writers.set(item, tx);
    this.#done.push({ tx, kind: 'write', item, made });
    return false;
  }

  #judge(transaction: Transaction, { tx, key, isLogged }: Step & { readonly kind: 'judge' }): void {
    if (!isLogged) {
      this.#done.push({
        tx,
        kind: 'judge',
        key,
        isLogged,
        vote: this.#ask(),
        saw: 0,
        made: undefined,
      });
      return;
    }
    const row = judgeRow(key);
    if (this.#isoAt('judge_log') === 'SR') this.#writers.set(row, tx);
    const seen = this.#visible(tx, row);
    const vote = seen?.value ?? this.#ask();
    const isFirst = seen === undefined && !this.#isThere(row);
    const made = isFirst ? this.#make(tx, row, vote) : undefined;
    if (seen === undefined && !isFirst) transaction.unlogged.add(row);
    this.#done.push({ tx, kind: 'judge', key, isLogged, vote, saw: seen?.no ?? 0, made });
  }

  #ask(): number {
    return this.#options.vote?.() ?? this.#votes++;
  }

  /** Whether any transaction has written the row, committed or not. */
  #isThere(row: string): boolean {
    return (
      (this.#rows.get(row)?.length ?? 0) > 0 ||
      [...this.#transactions.values()].some(({ isOver, own }) => !isOver && own.has(row))
    );
  }

  #isLogged({ unlogged }: Transaction): boolean {
    return [...unlogged].every((row) => (this.#rows.get(row)?.length ?? 0) > 0);
  }

  #make(tx: number, item: string, value: number | undefined): Version {
    const row = { no: ++this.#versions, tx, value };
    this.#makers.set(row.no, tx);
    this.#transaction(tx).own.set(item, row);
    if (value !== undefined) this.#transaction(tx).seen.set(item, value);
    if (this.#isoAt(tableOf(item)) === 'none') this.#install(item, row);
    return row.no;
  }

  #install(item: string, row: Row): void {
    const rows = this.#rows.get(item);
    const committed = { ...row, at: ++this.#now };
    if (rows === undefined) this.#rows.set(item, [committed]);
    else rows.push(committed);
  }

  #look(tx: number, item: string): Version {
    const row = this.#visible(tx, item);
    const value = row === undefined ? this.#options.initial?.get(item) : row.value;
    if (value !== undefined) this.#transaction(tx).seen.set(item, value);
    return row?.no ?? 0;
  }

  #visible(tx: number, item: string): Row | undefined {
    const iso = this.#isoAt(tableOf(item));
    const rows = this.#rows.get(item) ?? [];
    if (iso === 'none') return rows.at(-1);
    const { own, snapshot } = this.#transaction(tx);
    return (
      own.get(item) ?? (iso === 'SI' ? rows.findLast(({ at }) => at <= snapshot) : rows.at(-1))
    );
  }

  #end(tx: number, how: ExecutedStep & { readonly kind: 'commit' | 'abort' }): void {
    const transaction = this.#transaction(tx);
    transaction.isOver = true;
    transaction.waiting.length = 0;
    this.#done.push(how);
    const isCommit = how.kind === 'commit';
    if (isCommit) this.#committed.add(tx);
    for (const [item, row] of transaction.own) {
      const isInstalled = this.#isoAt(tableOf(item)) === 'none';
      if (isCommit && !isInstalled) this.#install(item, row);
      if (!isCommit && isInstalled)
        this.#rows.set(
          item,
          this.#rows.get(item)!.filter((one) => one.tx !== tx),
        );
    }
    for (const [item, writer] of this.#writers) if (writer === tx) this.#writers.delete(item);
    for (const readers of [...this.#readers.values(), ...this.#scanners.values()])
      readers.delete(tx);
  }

  #transaction(tx: number): Transaction {
    let transaction = this.#transactions.get(tx);
    if (transaction === undefined) {
      const callbacks = this.#schedule.filter(
        (step) => step.tx === tx && step.kind === 'callback',
      ).length;
      transaction = new Transaction(this.#now, callbacks);
      this.#transactions.set(tx, transaction);
      this.#done.push({ tx, kind: 'begin' });
    }
    return transaction;
  }

  #values(): Map<string, number> {
    const values = new Map(this.#options.initial);
    for (const [item, rows] of this.#rows) {
      const value = rows.at(-1)?.value;
      if (value !== undefined) values.set(item, value);
    }
    return values;
  }
}

function rowOf(step: Step): string | undefined {
  switch (step.kind) {
    case 'read':
    case 'write':
      return step.item;
    case 'judge':
      return step.isLogged ? judgeRow(step.key) : undefined;
    case 'callback':
      return callbackRow(step.handle);
    default:
      return undefined;
  }
}

function lock<Key>(holders: Map<Key, Set<number>>, key: Key, tx: number): void {
  const held = holders.get(key);
  if (held === undefined) holders.set(key, new Set([tx]));
  else held.add(tx);
}
