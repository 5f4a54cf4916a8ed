import type { EffectStore, LoggedTransaction } from '#ledger';

/** Maximum number of transactions in memory: a hundred thousand may need human decisions. */
const PAGE = 500;

/**
 * The open transactions of the log, by epoch, read in pages; by default of all trajectories. Each
 * is read in one snapshot. Transactions that start or end during the read may be included.
 */
export async function* openTransactions(store: EffectStore, trajectoryId?: string): AsyncGenerator<LoggedTransaction> {
  for (let after = 0; ; ) {
    const page = await store.openEffects({ after, limit: PAGE, ...(trajectoryId !== undefined && { trajectoryId }) });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.epoch;
  }
}

/** The epochs of the open transactions. */
export async function openEpochs(store: EffectStore, trajectoryId?: string): Promise<ReadonlySet<number>> {
  const open = new Set<number>();
  for await (const { epoch } of openTransactions(store, trajectoryId)) open.add(epoch);
  return open;
}
