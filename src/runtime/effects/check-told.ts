import { checkRow, type EffectStore, type Fault, LedgerFault, type LedgerStore, type LoggedTransaction } from '#ledger';
import { type EffectsTold, ToldComparison, type ToldDifference } from './compare-told.ts';

type Store = LedgerStore & EffectStore;

/** Transactions that are read at once. */
const TRANSACTIONS = 100;
const ENTRIES = 1_000;
/** How often what differs is read again, where somebody is at work meanwhile. */
const AGAIN = 5;

/**
 * The first place of each trajectory where the effect log of a store is not what the ledger tells of it, among those that are given with what
 * they tell. The log is read once, as a whole. What differs is read again before anything is said of it: somebody may be at work, and of
 * what is written together one half was read before, and the other one after.
 */
export async function toldFaults(
  store: Store,
  told: ReadonlyMap<string, EffectsTold>,
): Promise<ReadonlyMap<string, Fault>> {
  const open = await openEpochs(store);
  const comparisons = new Map([...told].map(([trajectoryId, each]) => [trajectoryId, new ToldComparison(each, open)]));
  let isLogHere = (await store.wereEffectsHeld?.()) === true;
  for await (const logged of transactionsOf(store)) {
    isLogHere = true;
    comparisons.get(logged.trajectory_id)?.add(logged);
  }
  const faults = new Map<string, Fault>();
  for (const [trajectory_id, comparison] of comparisons) {
    const differences = await ended(store, trajectory_id, comparison, isLogHere);
    comparisons.delete(trajectory_id);
    if (differences.length === 0) continue;
    const [first, ...more] = await lasting(store, trajectory_id, told.get(trajectory_id)!, isLogHere);
    if (first === undefined) continue;
    const { seq } = first;
    const detail = more.length === 0 ? first.detail : `${first.detail} (and ${more.length} more of that kind)`;
    faults.set(trajectory_id, { trajectory_id, seq, code: 'effects_differ', detail });
  }
  return faults;
}

/**
 * What differs each time it is looked at. An entry that has come meanwhile may have told it, so that the ledger is always read first; where
 * none has come, both are of one moment, but for what opens and ends in the log alone, which two looks tell.
 */
async function lasting(
  store: Store,
  trajectoryId: string,
  told: EffectsTold,
  isLogHere: boolean,
): Promise<readonly ToldDifference[]> {
  let found: readonly ToldDifference[] | undefined;
  for (let looks = 0; looks < AGAIN; looks++) {
    await readOn(store, trajectoryId, told);
    const comparison = new ToldComparison(told, await openEpochs(store));
    for await (const logged of transactionsOf(store, trajectoryId)) comparison.add(logged);
    const now = await ended(store, trajectoryId, comparison, isLogHere);
    const before = new Set(found?.map(({ detail }) => detail));
    found = found === undefined ? now : now.filter(({ detail }) => before.has(detail));
    if (found.length === 0) break;
    const head = await store.head(trajectoryId);
    if (looks > 0 && head?.seq === told.seq - 1) break;
  }
  return found ?? [];
}

/** Takes what was written since. What is wrong with that is for whoever verifies it. */
async function readOn(store: Store, trajectoryId: string, told: EffectsTold): Promise<void> {
  try {
    for (;;) {
      const rows = await store.entries(trajectoryId, { from: told.seq, limit: ENTRIES });
      for (const row of rows) told.note(checkRow(row));
      if (rows.length < ENTRIES) return;
    }
  } catch (error) {
    if (!(error instanceof LedgerFault)) throw error;
  }
}

async function ended(
  store: Store,
  trajectoryId: string,
  comparison: ToldComparison,
  isLogHere: boolean,
): Promise<readonly ToldDifference[]> {
  for (const each of comparison.unknown) {
    const row = await store.resolve(each.entry);
    if (row?.trajectory_id !== trajectoryId) comparison.missing(each);
  }
  return comparison.differences(isLogHere);
}

async function openEpochs(store: Store): Promise<ReadonlySet<number>> {
  return new Set((await store.openEffects()).map(({ epoch }) => epoch));
}

async function* transactionsOf(store: Store, trajectoryId?: string): AsyncGenerator<LoggedTransaction> {
  let before: number | undefined;
  for (;;) {
    const page = await store.listEffects({
      limit: TRANSACTIONS,
      ...(before !== undefined && { before }),
      ...(trajectoryId !== undefined && { trajectoryId }),
    });
    yield* page;
    if (page.length < TRANSACTIONS) return;
    before = page.at(-1)!.epoch;
  }
}
