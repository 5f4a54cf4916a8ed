import type {
  EffectStore,
  FactStore,
  LedgerStore,
  SharedEffectStore,
} from 'assize/internal/ledger';

/** Facts are written together with the entries that they come from. */
export type FactLedger = LedgerStore & FactStore;

/** Effects are written together with their entries. */
export type EffectLedger = LedgerStore & EffectStore;

/** Effects are written together with their entries. */
export type SharedEffectLedger = LedgerStore & SharedEffectStore;
