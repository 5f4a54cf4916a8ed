import type { EffectStore, LoggedTransaction } from '#ledger';

/** Transactions that are in memory at once: what waits for people may be a hundred thousand. */
const PAGE = 500;

/**
 * Transactions that are open in the log, by epoch, a page of them in memory at a time; by default those of all trajectories. Each is as it was
 * at one moment. What begins or ends meanwhile may be among them.
 */
export async function* openTransactions(store: EffectStore, trajectoryId?: string): AsyncGenerator<LoggedTransaction> {
  for (let after = 0; ; ) {
    const page = await store.openEffects({ after, limit: PAGE, ...(trajectoryId !== undefined && { trajectoryId }) });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.epoch;
  }
}

/** Their epochs. */
export async function openEpochs(store: EffectStore, trajectoryId?: string): Promise<ReadonlySet<number>> {
  const open = new Set<number>();
  for await (const { epoch } of openTransactions(store, trajectoryId)) open.add(epoch);
  return open;
}
