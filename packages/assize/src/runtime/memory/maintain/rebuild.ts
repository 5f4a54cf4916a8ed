import { arg, checkArgument, isAssizeError, isInstance } from '#base';
import { type FactStore, type FactWrite, LedgerFault, type LedgerStore } from '#ledger';
import { recordedChanges } from './from-entries.ts';

export interface RebuildOptions {
  /** Called with the number of entries read, and the total; all are read twice. */
  readonly onProgress?: (done: number, total: number) => void;
  /**
   * For a ledger that cannot be made into facts, when an import of entries without facts left the
   * facts incomplete. Restores the facts before the import (`FactStore.keepFacts`), and still
   * throws the reason. Default: the facts stay incomplete.
   */
  readonly keep?: boolean;
}

const REBUILD_OPTIONS = arg.options<RebuildOptions>({
  onProgress: arg.any,
  keep: arg.optional(arg.flag),
});

/** The result of a rebuild. */
export interface RebuiltMemory {
  /** Changes, each of one partition. */
  readonly changes: number;
  /** Versions of facts. */
  readonly facts: number;
}

/** Changes passed to the store at a time; the store decides how many it writes in one batch. */
const PAGE = 200;

/**
 * Rebuilds the facts of a store from its ledger: exactly the same rows, including erased ones. The
 * ledger is read once before, so a ledger that cannot be made into facts leaves them as they are.
 * From then until the end, reads and writes of facts throw `store_facts_incomplete`. After an
 * interruption they throw until a rebuild succeeds.
 *
 * @throws LedgerFault, RuntimeError `invalid_ledger`; StoreError `store_facts_incomplete` if
 * another rebuild started in the meantime; ArgumentError `bad_argument`
 */
export async function rebuildMemory(
  store: LedgerStore & FactStore,
  options: RebuildOptions = {},
): Promise<RebuiltMemory> {
  checkArgument(REBUILD_OPTIONS, options, 'options');
  const before = await store.trajectories();
  const length = before.reduce((sum, { entries }) => sum + entries, 0);
  const told = (passed: number) => (read: number) =>
    options.onProgress?.(passed + read, 2 * length);
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
    // Read again: from here on no writer changes facts.
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
  return isInstance(error, LedgerFault) || isAssizeError(error, 'invalid_ledger');
}
