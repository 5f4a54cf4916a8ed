import {
  type EffectPhase,
  isUnresolved,
  type KnownTransaction,
  readWithCommittedKeys,
} from '#effects';
import {
  type AbandonedEffect,
  abandonedArgs,
  type Entry,
  type Hash,
  isEffectPending,
  isErasure,
  isSettlement,
  type LoggedTransaction,
  type PendingEffectArgs,
  pendingEffectOf,
  type SettledAs,
} from '#ledger';

// Compares the entries about effects with the effect log. Only the ledger is chained. A changed row
// of the log changes later calls, so both must agree. Pure; `check-with-ledger.ts` reads both.

/** A difference between the effect log and the ledger of a trajectory. */
export interface EffectLogDifference {
  /** The entry that differs from the log, or the last entry if there is no such entry. */
  readonly seq: number;
  readonly detail: string;
}

/**
 * The effects of a commit, and the recorded outcome of each: undefined until the chain records one.
 */
interface RecordedCommit {
  readonly seq: number;
  /** The epoch that the entry names. */
  readonly epoch: number | undefined;
  readonly effects: Map<Hash, SettledAs | undefined>;
}

type RecordedPending = PendingEffectArgs & {
  readonly id: Hash;
  readonly seq: number;
  readonly reason: EffectPhase;
};

/** A commit that a transaction of the log names. */
export interface ReferencedCommit {
  readonly epoch: number;
  readonly entry: Hash;
}

interface RecordedAbort {
  readonly epoch: number;
  readonly seq: number;
  readonly effects: readonly AbandonedEffect[];
}

/** The entries of one chain about effects. Entries that name no effect may be skipped. */
export class LedgerEffects {
  /** The seq of the next entry. */
  seq = 0;
  readonly commits: Map<Hash, RecordedCommit> = new Map();
  /** Open pending entries about effects, by entry. */
  readonly waiting: Map<Hash, RecordedPending> = new Map();
  /** By entry. */
  readonly abandoned: Map<Hash, RecordedAbort> = new Map();
  /**
   * Imported commits with unsettled effects: their transactions are in the log of the other store.
   */
  readonly imported: Set<Hash> = new Set();
  /** Erasing entries, with their seqs: they may name texts of the log. */
  readonly erasures: Map<Hash, number> = new Map();
  /** No entry follows a final answer, so later outcomes of effects are in the log alone. */
  isAnswered = false;

  /** Approximate number of effects of the chain. It determines its memory. */
  get size(): number {
    let size = this.waiting.size + this.erasures.size;
    for (const { effects } of this.commits.values()) size += effects.size;
    for (const { effects } of this.abandoned.values()) size += effects.length;
    return size;
  }

  /** Entries that the log must have: their effects have not ended. */
  get unfinished(): readonly Hash[] {
    const commits = [...this.commits].filter(
      ([id, commit]) => !this.imported.has(id) && leftOf(commit).length > 0,
    );
    return [...this.waiting.keys(), ...commits.map(([id]) => id)];
  }

  /** Entries that can show a fault of the log. */
  get expecting(): readonly Hash[] {
    return [...this.unfinished, ...this.abandoned.keys()];
  }

  /** Imported entries do not concern the log of this store, and their epochs differ. */
  skipImported(ids: Iterable<Hash>): void {
    for (const id of ids) {
      this.waiting.delete(id);
      this.abandoned.delete(id);
      if (this.commits.has(id)) this.imported.add(id);
    }
  }

  /** Adds an entry that its chain has accepted. */
  addEntry({ id, seq, trajectory_id, payload }: Entry): void {
    this.seq = seq + 1;
    if ('resolves' in payload && payload.resolves !== undefined)
      this.waiting.delete(payload.resolves);
    if (isErasure(payload)) this.erasures.set(id, seq);
    if (isSettlement(payload)) {
      for (const { commit, effects } of payload.action.args.settled)
        for (const { id: effect, outcome } of effects)
          this.commits.get(commit)?.effects.set(effect, outcome);
    } else if (payload.kind === 'commit' && payload.delta.effects.length > 0) {
      const effects = new Map(payload.delta.effects.map((effect) => [effect.id, undefined]));
      this.commits.set(id, { seq, epoch: payload.epoch, effects });
    } else if (isEffectPending(payload)) {
      this.waiting.set(id, { ...pendingEffectOf(payload), seq, reason: payload.reason });
    } else if (payload.kind === 'rejection') {
      const args = abandonedArgs(payload);
      if (args !== undefined)
        this.abandoned.set(id, { epoch: args.epoch, seq, effects: args.effects });
    } else if (payload.kind === 'delegation' && payload.child_trajectory_id === trajectory_id) {
      this.isAnswered = true;
      this.waiting.clear();
    }
  }

  /** Skips entries that do not concern effects. */
  skipEntries(entries: number): void {
    this.seq += entries;
  }
}

/** Compares the log's transactions of one trajectory with the entries of its chain. */
export class EffectLogComparison {
  readonly #told: LedgerEffects;
  readonly #open: ReadonlySet<number>;
  readonly #differences: EffectLogDifference[] = [];
  /** The commits that a transaction of the log names. */
  readonly #logged: Set<Hash> = new Set();
  readonly #waiting: Map<number, RecordedPending[]>;
  readonly #abandoned: ReadonlyMap<number, readonly RecordedAbort[]>;
  /** The commits that name an epoch. */
  readonly #committed: ReadonlyMap<number, RecordedCommit>;
  #isUnread = false;

  /** `open`: epochs of transactions that are open in the log. */
  constructor(told: LedgerEffects, open: ReadonlySet<number>) {
    this.#told = told;
    this.#open = open;
    this.#waiting = Map.groupBy(told.waiting.values(), ({ epoch }) => epoch);
    this.#committed = new Map(
      [...told.commits].flatMap(([id, commit]) =>
        commit.epoch === undefined || told.imported.has(id) ? [] : [[commit.epoch, commit]],
      ),
    );
    this.#abandoned = Map.groupBy(told.abandoned.values(), ({ epoch }) => epoch);
  }

  /**
   * Adds the next transaction, in any order. Returns the commit that it names if the chain has no
   * data for that commit; the caller must then check whether the commit exists.
   */
  add(logged: LoggedTransaction): ReferencedCommit | undefined {
    const { epoch } = logged;
    let known: KnownTransaction;
    let named: readonly Hash[] = [];
    try {
      ({ known, committedKeys: named } = readWithCommittedKeys(logged));
    } catch (error) {
      this.#isUnread = true;
      this.#say(
        undefined,
        `transaction ${epoch} of the effect log cannot be read: ${(error as Error).message}`,
      );
      return undefined;
    }
    if (known.effects.length !== known.state.effects.length) {
      this.#isUnread = true;
      this.#say(
        undefined,
        `transaction ${epoch} of the effect log has records of effects that do not exist`,
      );
      return undefined;
    }
    this.#checkOpen(known);
    const { entry } = known;
    const isUnknown = entry !== undefined && named.length === 0 && !this.#told.commits.has(entry);
    if (entry !== undefined && !isUnknown) this.#checkCommit(known, entry, named);
    else if (entry === undefined && COMMITTED.has(known.state.phase))
      this.#say(
        undefined,
        `transaction ${epoch} is ${known.state.phase} in the effect log, but no entry commits it`,
      );
    this.#checkUncommitted(known);
    this.#checkAbandoned(known);
    for (const waiting of this.#waiting.get(epoch) ?? []) this.#checkWaiting(known, waiting);
    this.#waiting.delete(epoch);
    return isUnknown ? { epoch, entry } : undefined;
  }

  /** Notes that a commit named by a transaction does not exist. */
  missing({ epoch, entry }: ReferencedCommit): void {
    this.#say(
      undefined,
      `transaction ${epoch} of the effect log is committed with ${entry}, which is not a commit of this trajectory`,
    );
  }

  /**
   * Call when all of the trajectory is added. `isLogHere`: whether the store ever had an effect
   * log. Without one, nothing is missing.
   */
  differences(isLogHere: boolean): readonly EffectLogDifference[] {
    // A seemingly missing transaction may be an unreadable one.
    if (isLogHere && !this.#isUnread) {
      for (const [id, commit] of this.#told.commits) {
        if (this.#logged.has(id) || this.#told.imported.has(id)) continue;
        const left = leftOf(commit).length;
        if (left > 0)
          this.#say(
            commit.seq,
            `${left} effects of this commit are not settled, but the effect log has no transaction of the commit`,
          );
      }
      for (const { seq, tool, n, epoch } of [...this.#waiting.values()].flat())
        this.#say(
          seq,
          `${tool}, effect ${n} of transaction ${epoch}, is pending, but the effect log has no such transaction`,
        );
    }
    return this.#differences.toSorted((a, b) => a.seq - b.seq);
  }

  /** An unfinished transaction must be open, or no process would resume it. */
  #checkOpen({ epoch, state: { phase } }: KnownTransaction): void {
    if (ENDED.has(phase) || this.#open.has(epoch)) return;
    this.#say(
      undefined,
      `transaction ${epoch} of the effect log is ${phase} but not listed as open, so no process resumes it`,
    );
  }

  /** A recovery would compensate the effects of a commit whose record was removed. */
  #checkUncommitted({ epoch, state: { phase } }: KnownTransaction): void {
    const commit = this.#committed.get(epoch);
    if (commit !== undefined && !COMMITTED.has(phase))
      this.#say(
        commit.seq,
        `transaction ${epoch} is ${phase} in the effect log, but this entry commits it`,
      );
  }

  #checkCommit(
    { epoch, state, effects }: KnownTransaction,
    entry: Hash,
    named: readonly Hash[],
  ): void {
    const commit = this.#told.commits.get(entry);
    if (commit === undefined) {
      this.missing({ epoch, entry });
      return;
    }
    const { seq } = commit;
    if (this.#told.imported.has(entry)) {
      this.#say(
        seq,
        `transaction ${epoch} of the effect log is committed with this entry, which is recorded as imported`,
      );
      return;
    }
    this.#logged.add(entry);
    if (commit.epoch !== epoch) {
      this.#say(
        seq,
        `transaction ${epoch} of the effect log is committed with this entry, which belongs to transaction ${commit.epoch}`,
      );
      return;
    }
    const keys = new Set(named);
    if (keys.size !== commit.effects.size || named.some((key) => !commit.effects.has(key))) {
      this.#say(seq, `transaction ${epoch} of the effect log has other effects than this commit`);
      return;
    }
    for (const [n, { key, tool }] of effects.entries()) {
      if (!keys.has(key)) continue;
      const outcome = commit.effects.get(key);
      const { phase } = state.effects[n]!;
      const what = `${tool}, effect ${n} of transaction ${epoch}`;
      if (outcome !== undefined) {
        if (settledAs(phase) !== outcome)
          this.#say(seq, `${what}, is ${phase} in the effect log, but was settled as ${outcome}`);
      } else if (ENDED.has(state.phase) && !this.#open.has(epoch) && !this.#told.isAnswered)
        this.#say(
          seq,
          `${what}, is ${phase} in the effect log, its transaction has ended, and no entry settles it`,
        );
    }
  }

  /** The effects of an aborted attempt without a ruling are listed when they are compensated. */
  #checkAbandoned({ epoch, state, effects, cause = '' }: KnownTransaction): void {
    const told = this.#abandoned.get(epoch);
    const acted = effects.flatMap(({ key }, n) => {
      const { phase } = state.effects[n]!;
      return phase === 'undone' || phase === 'accepted' ? [`${key} ${phase}`] : [];
    });
    if (told !== undefined) {
      const isListed = told.some(({ effects: listed }) => {
        const each = listed.map(({ id, outcome }) => `${id} ${outcome}`);
        return state.phase === 'aborted' && each.sort().join() === acted.sort().join();
      });
      if (!isListed)
        this.#say(
          told[0]!.seq,
          `transaction ${epoch} of the effect log is ${state.phase} and has other effects than this entry lists`,
        );
      return;
    }
    if (
      state.phase !== 'aborted' ||
      this.#open.has(epoch) ||
      this.#told.isAnswered ||
      acted.length === 0
    )
      return;
    const isDear = effects.some(
      ({ undo_cost }, n) => undo_cost !== undefined && state.effects[n]!.isCompensated === true,
    );
    if (!RULED.has(cause) || isDear)
      this.#say(
        undefined,
        `transaction ${epoch} was compensated according to the effect log, but no entry lists its effects`,
      );
  }

  #checkWaiting(
    { epoch, state, effects, entry }: KnownTransaction,
    { seq, n, id, tool, reason, commit }: RecordedPending,
  ): void {
    const what = `${tool}, effect ${n} of transaction ${epoch}, is pending (${reason}), but`;
    if (effects[n]?.key !== id) {
      this.#say(seq, `${what} the effect log has another effect there`);
      return;
    }
    if (commit !== undefined && commit !== entry)
      this.#say(seq, `${what} the transaction in the effect log does not belong to ${commit}`);
    const { phase } = state.effects[n]!;
    if (!isUnresolved(phase) || phase !== reason)
      this.#say(seq, `${what} the effect is ${phase} in the effect log`);
  }

  #say(seq: number | undefined, detail: string): void {
    this.#differences.push({ seq: seq ?? Math.max(this.#told.seq - 1, 0), detail });
  }
}

const ENDED: ReadonlySet<string> = new Set(['settled', 'aborted']);
const COMMITTED: ReadonlySet<string> = new Set(['committed', 'failing', 'settled']);
/** Causes that a ruling records, or recorded in ledgers of earlier versions. */
const RULED: ReadonlySet<string> = new Set(['rejected', 'escalated']);

function leftOf({ effects }: RecordedCommit): readonly Hash[] {
  return [...effects].flatMap(([id, outcome]) => (outcome === undefined ? [id] : []));
}

/** An effect that never ran is absent, as a compensated one is. */
function settledAs(phase: EffectPhase): EffectPhase {
  return phase === 'dropped' ? 'undone' : phase;
}
