import type { EffectStore, LoggedTransaction } from '#ledger';

/** Transactions per page of the whole log, and of the open ones. */
const PAGE = 100;
const OPEN_PAGE = 500;

/**
 * All transactions of the effect log or of one trajectory, including ended ones; the youngest
 * first.
 */
export async function* loggedTransactions(
  store: Pick<EffectStore, 'listEffects'>,
  trajectoryId?: string,
): AsyncGenerator<LoggedTransaction> {
  let before: number | undefined;
  for (;;) {
    const page = await store.listEffects({
      limit: PAGE,
      ...(before !== undefined && { before }),
      ...(trajectoryId !== undefined && { trajectoryId }),
    });
    yield* page;
    if (page.length < PAGE) return;
    before = page.at(-1)!.epoch;
  }
}

/**
 * The open transactions of the log, by epoch, read in pages; by default of all trajectories. Each
 * is read in one snapshot. Transactions that start or end during the read may be included.
 */
export async function* openTransactions(
  store: EffectStore,
  trajectoryId?: string,
): AsyncGenerator<LoggedTransaction> {
  for (let after = 0; ; ) {
    const page = await store.openEffects({
      after,
      limit: OPEN_PAGE,
      ...(trajectoryId !== undefined && { trajectoryId }),
    });
    yield* page;
    if (page.length < OPEN_PAGE) return;
    after = page.at(-1)!.epoch;
  }
}

/** The epochs of the open transactions. */
export async function openEpochs(
  store: EffectStore,
  trajectoryId?: string,
): Promise<ReadonlySet<number>> {
  const open = new Set<number>();
  for await (const { epoch } of openTransactions(store, trajectoryId)) open.add(epoch);
  return open;
}
