import { form, isAssizeError, requireForm } from '#base';
import { type FactStore, type FactWrite, LedgerFault, type LedgerStore } from '#ledger';
import { recordedChanges } from './from-entries.ts';

export interface RebuildOptions {
  /** Called with how many entries were read, of how many; all are read twice. */
  readonly onProgress?: (done: number, total: number) => void;
  /**
   * Where the ledger can't be made into facts, and they are incomplete because entries of an import have come without theirs: has those again that
   * there were before (`FactStore.keepFacts`), and says all the same why. Default: they stay incomplete.
   */
  readonly keep?: boolean;
}

const REBUILD_OPTIONS = form.options<RebuildOptions>({
  onProgress: form.any,
  keep: form.optional(form.of('true or false', (value) => typeof value === 'boolean')),
});

/** What the facts of a store were made of. */
export interface RebuiltMemory {
  /** Changes of one partition each. */
  readonly changes: number;
  /** Versions of facts. */
  readonly facts: number;
}

/** Changes that a store is given at once; what it writes at once is for it to say. */
const PAGE = 200;

/**
 * Makes the facts of a store anew from its ledger: exactly the rows that there were, also of what was erased. The ledger is read once
 * before, so that one that can't be made into facts leaves them as they are. From then on until it is done, reads and writes of facts
 * throw `store_facts_incomplete`; where it is interrupted, they do so until it is done again.
 *
 * @throws LedgerFault, RuntimeError `invalid_ledger`; StoreError `store_facts_incomplete` where another one was begun meanwhile;
 * ArgumentError `bad_argument`
 */
export async function rebuildMemory(
  store: LedgerStore & FactStore,
  options: RebuildOptions = {},
): Promise<RebuiltMemory> {
  requireForm(REBUILD_OPTIONS, options, 'options');
  const before = await store.trajectories();
  const length = before.reduce((sum, { entries }) => sum + entries, 0);
  const told = (passed: number) => (read: number) => options.onProgress?.(passed + read, 2 * length);
  try {
    for await (const _ of recordedChanges(store, before, told(0)));
  } catch (error) {
    if (options.keep === true && isOfLedger(error)) await store.keepFacts();
    throw error;
  }
  let changes = 0;
  let facts = 0;
  async function* pages(): AsyncGenerator<readonly FactWrite[]> {
    let page: FactWrite[] = [];
    // Looked up again: from here on nobody writes facts.
    for await (const write of recordedChanges(store, await store.trajectories(), told(length))) {
      page.push(write);
      changes += 1;
      facts += write.insert.length;
      if (page.length < PAGE) continue;
      yield page;
      page = [];
    }
    yield page;
  }
  await store.rebuildFacts(pages());
  return { changes, facts };
}

function isOfLedger(error: unknown): boolean {
  return error instanceof LedgerFault || isAssizeError(error, 'invalid_ledger');
}
