import type { LedgerStore } from 'assize/internal/ledger';
import { appendLaws } from './laws/append.ts';
import { batchLaws } from './laws/batches.ts';
import { clockLaws } from './laws/clock.ts';
import { closingLaws } from './laws/closing.ts';
import { erasingLaws } from './laws/erasing.ts';
import { handleLaws } from './laws/handles.ts';
import { modelLaws } from './laws/model.ts';
import { readingLaws } from './laws/reading.ts';
import { refusalLaws } from './laws/refusals.ts';
import { rowLaws } from './laws/rows.ts';
import { writeLockLaws } from './laws/write-locks.ts';
import { type Bench, runSuite, type StoreSuite } from './suite.ts';

export type LedgerStoreSuite = StoreSuite<LedgerStore>;

/**
 * The rules of every ledger store: compare-and-set without gaps, atomic batches, and rows exactly
 * as given. `resolve` settles an unknown commit, and `close` loses no data. Call it in a test file
 * of the store.
 */
export function ledgerStoreSuite(suite: LedgerStoreSuite): void {
  runSuite('ledger', suite, LEDGER_LAWS);
}

export const LEDGER_LAWS: readonly ((bench: Bench<LedgerStore>) => void)[] = [
  appendLaws,
  batchLaws,
  rowLaws,
  readingLaws,
  refusalLaws,
  modelLaws,
  closingLaws,
  clockLaws,
  erasingLaws,
  handleLaws,
  writeLockLaws,
];
