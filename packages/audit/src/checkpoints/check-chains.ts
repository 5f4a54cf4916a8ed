import { isInstance } from 'assize/internal/base';
import {
  Chain,
  checkRow,
  EntryKeyRules,
  LedgerFault,
  type LedgerStore,
} from 'assize/internal/ledger';

const PAGE = 1_000;

/**
 * The first fault in the chains of a store: of an entry on its own, of a rule of one chain, or of
 * the keys that sign. No values are read, and no other rules between chains are checked.
 */
export async function chainFault(
  store: Pick<LedgerStore, 'trajectories' | 'entries' | 'resolve'>,
  named: ReadonlySet<string> | undefined,
): Promise<LedgerFault | undefined> {
  const keys = new EntryKeyRules(store, named);
  try {
    for (const { trajectory_id } of await store.trajectories())
      await checkChain(store, keys, trajectory_id);
    return undefined;
  } catch (error) {
    if (isInstance(error, LedgerFault)) return error;
    throw error;
  }
}

/** @throws LedgerFault */
async function checkChain(
  store: Pick<LedgerStore, 'entries'>,
  keys: EntryKeyRules,
  trajectoryId: string,
): Promise<void> {
  const chain = new Chain(trajectoryId);
  for (;;) {
    const rows = await store.entries(trajectoryId, { from: chain.seq, limit: PAGE });
    for (const row of rows) {
      const entry = checkRow(row);
      const isFirst = EntryKeyRules.isFirst(entry, chain);
      chain.accept(entry);
      if (isFirst) await keys.checkFirst(entry);
    }
    if (rows.length < PAGE) break;
  }
  keys.checkWhole(trajectoryId, chain.key);
}
