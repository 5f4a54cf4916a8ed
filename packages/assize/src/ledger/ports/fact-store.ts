import type {
  BranchPartition,
  BranchPartitionQuery,
  FactHit,
  FactQuery,
  FactText,
  FactTextQuery,
  FactVector,
  FactVectorQuery,
  FactVersion,
  FactWrite,
  PartitionName,
  PartitionState,
} from '../entry/fact-rows.ts';
import type { LedgerStore } from './ledger-store.ts';

/**
 * The store of facts: a projection of commits that can be rebuilt from them. Reads see committed
 * rows only. Rows are sorted by subject and predicate in code-point order. Rows of one partition
 * are sorted by `system_time_start`, `valid_from`, `fact_id`.
 */
export interface FactStore {
  /** Returns undefined if the partition never had a fact. */
  partition(name: PartitionName): Promise<PartitionState | undefined>;
  facts(query: FactQuery): Promise<FactVersion[]>;
  /**
   * The key for hashing claims in this store: the first key ever offered. The key is not part of
   * the ledger, so a rebuilt store does not recognise earlier claims. A key has 16 to 64 bytes; any
   * other length is misuse (`store_invalid_input`).
   */
  claimKey(offered: Uint8Array): Promise<Uint8Array>;
  /** The existing key, if one was ever offered. Writes nothing. */
  claimKey(): Promise<Uint8Array | undefined>;
  /** Spaces with shared facts, in code-point order. */
  spaces(): Promise<string[]>;
  /** Branches with their own partitions, by space, in code-point order. */
  branches(): Promise<{ readonly space: string; readonly branch: string }[]>;
  /** The partitions of one branch, by subject and predicate in code-point order. */
  branchPartitions(query: BranchPartitionQuery): Promise<BranchPartition[]>;
  /**
   * Facts with a word of the query in their text, best first. Equal scores are in the order of
   * `facts`. The search sees all committed texts except erased ones. For a very frequent word, a
   * store may rank only the newest texts.
   */
  factsByText(query: FactTextQuery): Promise<FactHit[]>;
  /**
   * Facts with a vector of the embedder for their text, nearest first. Equal distances are in the
   * order of `facts`.
   */
  factsByVector(query: FactVectorQuery): Promise<FactHit[]>;
  /** Texts of a space that have no vector of the embedder yet, without erased texts. */
  textsToEmbed(embedder: string, space: string, limit: number): Promise<FactText[]>;
  /**
   * Stores vectors with their texts. A text that already has a vector keeps it. A text that was
   * erased, or removed by a rebuild, gets none. Other dimensions than the embedder's stored
   * vectors, or a vector that is not finite or all zero, are misuse (`store_invalid_input`): the
   * store writes nothing.
   */
  putVectors(embedder: string, vectors: readonly FactVector[]): Promise<void>;
  /**
   * Deletes all facts and rebuilds them from the ledger, from pages of changes in version order.
   * Until the last page is stored, or after a failure, reads and writes of facts throw
   * `store_facts_incomplete`. The state survives a reopen of the store. Facts also stay incomplete
   * if entries that await a rebuild (`Batch.awaitsFacts`) arrived after the start.
   */
  rebuildFacts(pages: AsyncIterable<readonly FactWrite[]>): Promise<void>;
  /**
   * Makes incomplete facts readable again, without the changes of the new entries. Applies only if
   * facts exist and are incomplete because entries arrived without facts (`Batch.awaitsFacts`).
   * Returns whether facts are readable. Returns false without any change if no facts exist, or if a
   * rebuild is running or was interrupted.
   */
  keepFacts(): Promise<boolean>;
  /**
   * Returns the result of `read`. Its reads all see one snapshot, regardless of concurrent commits.
   * `read` must await only these reads, and may be called again after a lost connection. `byText`:
   * whether `read` uses full-text search. If a store lacks this method, several reads may see
   * different commits.
   */
  withReadSnapshot?<T>(
    read: (facts: FactReads) => Promise<T>,
    options?: { readonly byText?: boolean },
  ): Promise<T>;
}

/** The reads of one snapshot. */
export type FactReads = Pick<
  FactStore,
  'facts' | 'branchPartitions' | 'factsByText' | 'factsByVector'
>;

/** Whether a store has facts, as the stores of this package do. */
export function isFactStore<Store extends LedgerStore>(store: Store): store is Store & FactStore {
  return typeof (store as Partial<FactStore>).partition === 'function';
}
