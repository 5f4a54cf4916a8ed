import type { Hash } from '#ledger';
import { StoreError } from './errors.ts';

/** The takeover of a copied store, or of imported trajectories, by this store. */
export interface Adoption {
  /** An instant, as in entries. */
  readonly at: string;
  readonly reason: string;
  /**
   * The ids of the first entries of imported trajectories. Default: the store itself, as a copy of
   * another one.
   */
  readonly roots?: readonly Hash[];
}

/** The port of a store that can take over the tool calls of another store. */
export interface Adoptable {
  /**
   * Records that this store calls tools in place of another store. Call it after the other store
   * was retired: two stores with the same entries make the same calls.
   */
  adopt(adoption: Adoption): Promise<void>;
  /** Whether the store has adopted the imported trajectory with this first entry. */
  adopted(root: Hash): Promise<boolean>;
}

/** `path` names the store. */
export function copiedError(path: string): StoreError {
  return new StoreError(
    'store_copied',
    `The store ${path} is a copy and calls no tools, because the original may call them too. Retire the original (assize restore retire), then take over here with: assize restore adopt.`,
    { evidence: { path } },
  );
}

/** For a file with several names. */
export function linkedError(path: string): StoreError {
  return new StoreError(
    'store_copied',
    `The store ${path} has a second name (a hard link), and a process under that name would call the same tools. Replace one of the names by a copy.`,
    { evidence: { path } },
  );
}
