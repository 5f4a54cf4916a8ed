import { isAssizeError, isInstance } from '#base';
import { textsOf } from '#effects';
import {
  checkRow,
  type EffectStore,
  type Fault,
  type Hash,
  LedgerFault,
  type LedgerStore,
  type LoggedTransaction,
  loggedErasedBy,
  ValueReader,
  wasImported,
} from '#ledger';
import { loggedTransactions, openEpochs } from '../../transactions/coordination/read-all.ts';
import {
  EffectLogComparison,
  type EffectLogDifference,
  type LedgerEffects,
} from './compare-with-ledger.ts';

type Store = LedgerStore & EffectStore;

const ENTRIES = 1_000;
/** Maximum number of repeated reads of a difference, in case a process is writing. */
const AGAIN = 5;

/** Approximate number of effects in memory before the log is read to compare them. */
const EFFECTS_AT_ONCE = 100_000;

/**
 * Finds the first position in each trajectory at which the store's effect log and the ledger
 * differ. Trajectories are added one by one, with their entries about effects. The log is read once
 * per batch of trajectories, so memory grows with the largest trajectory and not with all. A
 * difference is read again before it is reported. A process may be writing: then half of a batch
 * was read before the write, and the other half after it.
 */
export class EffectLogCheck {
  readonly #store: Store;
  readonly #known: ReadonlySet<string> | undefined;
  readonly #effectsMax: number;
  readonly #gathered: Map<string, LedgerEffects> = new Map();
  #effects = 0;
  readonly #faults: Map<string, Fault> = new Map();

  /**
   * `known`: all trajectories of the ledger, added or not. Without it, transactions of trajectories
   * that only the log has are not reported.
   */
  constructor(
    store: Store,
    known: ReadonlySet<string> | undefined,
    effectsMax: number = EFFECTS_AT_ONCE,
  ) {
    this.#store = store;
    this.#known = known;
    this.#effectsMax = effectsMax;
  }

  /** Approximate number of effects and trajectories in memory. */
  get effects(): number {
    return this.#effects;
  }

  async add(trajectoryId: string, told: LedgerEffects): Promise<void> {
    this.#gathered.set(trajectoryId, told);
    this.#effects += 1 + told.size;
    if (this.#effects >= this.#effectsMax) await this.#compare();
  }

  /**
   * Call when all trajectories are added. Includes faults of trajectories that only the log has.
   */
  async end(): Promise<ReadonlyMap<string, Fault>> {
    for (const [trajectory_id, transactions] of await this.#compare()) {
      // The trajectory may have been created in the meantime.
      if ((await this.#store.head(trajectory_id)) !== undefined) continue;
      const detail = `the effect log has transactions of this trajectory (${transactions}), but the ledger has no such trajectory`;
      this.#faults.set(trajectory_id, { trajectory_id, seq: 0, code: 'effects_differ', detail });
    }
    return this.#faults;
  }

  /**
   * Compares the gathered trajectories and clears them. Returns unknown trajectories, with their
   * number of transactions.
   */
  async #compare(): Promise<ReadonlyMap<string, number>> {
    const store = this.#store;
    // Imports are looked up only if something differs, because most entries were made here.
    for (const told of this.#gathered.values())
      told.skipImported(await importedOf(store, told.unfinished));
    const open = await openEpochs(store);
    const comparisons = new Map(
      [...this.#gathered].map(([id, each]) => [id, new EffectLogComparison(each, open)]),
    );
    const unknown = new Map<string, number>();
    let isLogHere = (await store.hasEffectLog?.()) === true;
    for await (const logged of loggedTransactions(store)) {
      isLogHere = true;
      const { trajectory_id } = logged;
      const comparison = comparisons.get(trajectory_id);
      if (comparison !== undefined) await compareOne(store, trajectory_id, comparison, logged);
      else if (this.#known?.has(trajectory_id) === false)
        unknown.set(trajectory_id, (unknown.get(trajectory_id) ?? 0) + 1);
    }
    for (const [trajectory_id, comparison] of comparisons) {
      comparisons.delete(trajectory_id);
      const told = this.#gathered.get(trajectory_id)!;
      if ((await differencesIn(store, trajectory_id, comparison, told, isLogHere)).length === 0)
        continue;
      const [first, ...more] = await lasting(store, trajectory_id, told, isLogHere);
      if (first === undefined) continue;
      const { seq } = first;
      const detail =
        more.length === 0 ? first.detail : `${first.detail} (and ${more.length} more of that kind)`;
      this.#faults.set(trajectory_id, { trajectory_id, seq, code: 'effects_differ', detail });
    }
    this.#gathered.clear();
    this.#effects = 0;
    return unknown;
  }
}

/**
 * The differences that persist. The ledger is always read first, because a new entry may have
 * recorded the difference. If no entry has come, both reads are of one moment, except for
 * transactions that start and end in the log alone; two reads show those.
 */
async function lasting(
  store: Store,
  trajectoryId: string,
  told: LedgerEffects,
  isLogHere: boolean,
): Promise<readonly EffectLogDifference[]> {
  let found: readonly EffectLogDifference[] | undefined;
  for (let looks = 0; looks < AGAIN; looks++) {
    await readOn(store, trajectoryId, told);
    told.skipImported(await importedOf(store, told.expecting));
    const comparison = new EffectLogComparison(told, await openEpochs(store, trajectoryId));
    for await (const logged of loggedTransactions(store, trajectoryId))
      await compareOne(store, trajectoryId, comparison, logged);
    const now = await differencesIn(store, trajectoryId, comparison, told, isLogHere);
    const before = new Set(found?.map(({ detail }) => detail));
    found = found === undefined ? now : now.filter(({ detail }) => before.has(detail));
    if (found.length === 0) break;
    const head = await store.head(trajectoryId);
    if (looks > 0 && head?.seq === told.seq - 1) break;
  }
  return found ?? [];
}

/** Adds the entries written since. Their faults are reported by the check that verifies them. */
async function readOn(store: Store, trajectoryId: string, told: LedgerEffects): Promise<void> {
  try {
    for (;;) {
      const rows = await store.entries(trajectoryId, { from: told.seq, limit: ENTRIES });
      for (const row of rows) told.addEntry(checkRow(row));
      if (rows.length < ENTRIES) return;
    }
  } catch (error) {
    if (!isInstance(error, LedgerFault)) throw error;
  }
}

async function compareOne(
  store: Store,
  trajectoryId: string,
  comparison: EffectLogComparison,
  logged: LoggedTransaction,
): Promise<void> {
  const named = comparison.add(logged);
  if (named === undefined) return;
  const row = await store.resolve(named.entry);
  if (row?.trajectory_id !== trajectoryId) comparison.missing(named);
}

/** The entries that came from another store. */
async function importedOf(store: Store, entries: readonly Hash[]): Promise<readonly Hash[]> {
  const imported: Hash[] = [];
  for (const entry of entries) if (await wasImported(store, entry)) imported.push(entry);
  return imported;
}

/**
 * The differences found by comparing each transaction, and erasures that name texts that the log
 * lacks.
 */
async function differencesIn(
  store: Store,
  trajectoryId: string,
  comparison: EffectLogComparison,
  { erasures }: LedgerEffects,
  isLogHere: boolean,
): Promise<readonly EffectLogDifference[]> {
  const differences = comparison.differences(isLogHere);
  if (!isLogHere) return differences;
  const more: EffectLogDifference[] = [];
  for (const [id, seq] of erasures) {
    const erasure = await new ValueReader(store).erasureOf(id);
    const logged = erasure === undefined ? [] : loggedErasedBy(erasure.args);
    // An entry that came from another store names the log of that store.
    if (logged.length === 0 || (await wasImported(store, id))) continue;
    for (const [epoch, erased] of Map.groupBy(logged, (each) => each.epoch)) {
      const there = await textsAt(store, trajectoryId, epoch);
      const other = erased.find(({ n, hash }) => !there.has(placed(n, hash)));
      if (other === undefined) continue;
      const detail = `the entry erases ${other.hash}, which the effect log does not have for effect ${other.n} of transaction ${epoch}`;
      more.push({ seq, detail });
    }
  }
  return [...differences, ...more].toSorted((a, b) => a.seq - b.seq);
}

/**
 * Texts that a transaction of that trajectory names. Empty if it cannot be read: another check
 * reports that.
 */
async function textsAt(
  store: Store,
  trajectoryId: string,
  epoch: number,
): Promise<ReadonlySet<string>> {
  const logged = await store.effectsOf(epoch);
  if (logged?.trajectory_id !== trajectoryId) return new Set();
  try {
    return new Set(textsOf(logged).map(({ n, hash }) => placed(n, hash)));
  } catch (error) {
    if (isAssizeError(error)) return new Set();
    throw error;
  }
}

function placed(n: number, hash: Hash): string {
  return `${n} ${hash}`;
}
