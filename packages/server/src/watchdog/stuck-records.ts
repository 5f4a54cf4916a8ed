import type { StuckRun } from './stuck-rows.ts';

/** The records of the runs of domain code that blocked a process. */
export interface StuckRecords {
  /** The recorded runs, by key. */
  recorded(page: { readonly after?: string; readonly limit: number }): Promise<ReadonlyMap<string, StuckRun>>;

  /** Removes a record, after the code of the domain was corrected. False if there is none. */
  forget(key: string): Promise<boolean>;
}
