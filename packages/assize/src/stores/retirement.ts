import { StoreError } from './errors.ts';

/** The permanent end of a store, whose entries go on in another store. */
export interface Retirement {
  /** An instant, as in entries. */
  readonly at: string;
  readonly reason: string;
}

/** The extra port of a store that can be retired: all but a store in memory. */
export interface Retirable {
  /**
   * Retires the store permanently. From then on no process writes to it: an open store refuses its
   * next write, and opening for writing fails, both with `store_retired`. Reads go on.
   */
  retire(retirement: Retirement): Promise<void>;
}

/** `path` names the store. */
export function retiredError(path: string, { at, reason }: Retirement): StoreError {
  return new StoreError(
    'store_retired',
    `The store ${path} was retired on ${at} (${reason}) and accepts no writes. Open the store that replaced it, or read this one with mode readonly.`,
    { evidence: { path, at, reason } },
  );
}
