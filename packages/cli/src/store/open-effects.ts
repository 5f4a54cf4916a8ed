import type { EffectStore, LoggedTransaction } from 'assize/internal/ledger';

const PAGE = 1_000;

/** All open tool transactions of a store, by epoch. */
export async function openEffects(store: EffectStore): Promise<readonly LoggedTransaction[]> {
  const open: LoggedTransaction[] = [];
  for (;;) {
    const after = open.at(-1)?.epoch;
    const page = await store.openEffects({ limit: PAGE, ...(after !== undefined && { after }) });
    open.push(...page);
    if (page.length < PAGE) return open;
  }
}
