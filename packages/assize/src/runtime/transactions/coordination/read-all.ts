import type { EffectStore, LoggedTransaction } from '#ledger';

/** Transactions per page. */
const PAGE = 100;

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
