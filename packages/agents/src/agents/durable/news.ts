import { integrateLog, type LogStore } from 'assize/internal/ledger';

/** Entries of one read. */
const PAGE = 500;

/** With more new entries than this, every trajectory counts as changed. */
const READ_MAX = 5_000;

/** The trajectories that have changed since the last call, by the positions of the log. */
export class LogNews {
  readonly #store: LogStore;
  #end: number | undefined;

  constructor(store: LogStore) {
    this.#store = store;
  }

  /** Undefined: any trajectory may have changed. */
  async next(): Promise<ReadonlySet<string> | undefined> {
    const size = await integrateLog(this.#store);
    const from = this.#end;
    if (from === undefined || size - from > READ_MAX) {
      this.#end = size;
      return undefined;
    }
    const changed = new Set<string>();
    for (let at = from; at < size; ) {
      const rows = await this.#store.logged(at, PAGE);
      if (rows.length === 0) break;
      for (const { trajectory_id } of rows) changed.add(trajectory_id);
      at += rows.length;
      this.#end = at;
    }
    return changed;
  }
}
