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
 * Where beliefs live: a projection of commits, from which they can be made anew. Reads see what is committed. Rows come
 * by subject and predicate in code-point order, those of a partition by `system_time_start`, `valid_from`, `fact_id`.
 */
export interface FactStore {
  /** Undefined where it never had a fact. */
  partition(name: PartitionName): Promise<PartitionState | undefined>;
  facts(query: FactQuery): Promise<FactVersion[]>;
  /**
   * The key that claims are hashed with in this store: the first one that was ever offered. It is no part of the ledger; in a store that is
   * made anew what was heard before is not recognised. A key has 16 to 64 bytes; one that is not is misuse (`store_invalid_input`).
   */
  claimKey(offered: Uint8Array): Promise<Uint8Array>;
  /** The key that there is, where one was ever offered; nothing is written. */
  claimKey(): Promise<Uint8Array | undefined>;
  /** Spaces that have shared facts, in code-point order. */
  spaces(): Promise<string[]>;
  /** Branches that have partitions of their own, by space, in code-point order. */
  branches(): Promise<{ readonly space: string; readonly branch: string }[]>;
  /** Those of one branch, by subject and predicate in code-point order. */
  branchPartitions(query: BranchPartitionQuery): Promise<BranchPartition[]>;
  /**
   * Facts in whose text a word of the query stands, best first; those that are equally good in the order of `facts`. It sees all that is
   * committed, and nothing that was erased. A store may rank by a word that stands in very many texts only the newest of them.
   */
  factsByText(query: FactTextQuery): Promise<FactHit[]>;
  /** Facts whose text has a vector of the embedder, nearest first; those that are equally near in the order of `facts`. */
  factsByVector(query: FactVectorQuery): Promise<FactHit[]>;
  /** Texts of a space that have no vector of the embedder yet. None was erased. */
  textsToEmbed(embedder: string, space: string, limit: number): Promise<FactText[]>;
  /**
   * Keeps vectors beside the texts that they were made of. A text that has one keeps it, and one that was erased meanwhile, or is not
   * there since facts were made anew, gets none. Misuse (`store_invalid_input`) where dimensions are not those of the vectors that the
   * embedder has in the store, or a vector is not finite or all zero: nothing is kept then.
   */
  putVectors(embedder: string, vectors: readonly FactVector[]): Promise<void>;
  /**
   * Forgets all facts, and takes them in anew from the ledger: pages of changes, in the order of their versions. Until the last page
   * is in, or where it fails, reads and writes of facts throw `store_facts_incomplete`, also after the store is opened again; and then as
   * well where entries have come since it began that await theirs (`Batch.awaitsFacts`).
   */
  rebuildFacts(pages: AsyncIterable<readonly FactWrite[]>): Promise<void>;
  /**
   * Where facts are incomplete only because entries came without theirs (`Batch.awaitsFacts`), and there are some: has them again as they are, without
   * what those entries say. Answers whether facts are to be had then: not where there are none to keep, or where they are being made anew or that
   * was interrupted, which changes nothing.
   */
  keepFacts(): Promise<boolean>;
  /**
   * Answers what `read` answers, of which all reads see one moment, whatever is committed meanwhile. Nothing but these is to be awaited in it, and it
   * may be called again where a connection was lost. `byText`: whether something is looked for by its words. Where a store has no such thing,
   * what is read by several questions may be of several moments.
   */
  atOneMoment?<T>(read: (facts: FactReads) => Promise<T>, options?: { readonly byText?: boolean }): Promise<T>;
}

/** What is read at one moment. */
export type FactReads = Pick<FactStore, 'facts' | 'branchPartitions' | 'factsByText' | 'factsByVector'>;

/** Whether a store keeps facts, as those of this package do. */
export function isFactStore<Store extends LedgerStore>(store: Store): store is Store & FactStore {
  return typeof (store as Partial<FactStore>).partition === 'function';
}
