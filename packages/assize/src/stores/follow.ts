/** The events that a follower of a store receives. */
export type StoreEvent =
  /** A trajectory has grown to this seq or beyond. */
  | { readonly kind: 'appended'; readonly trajectory_id: string; readonly seq: number }
  /** The store may have missed commits. The follower must read the store again. */
  | { readonly kind: 'missed' };

/** The extra port of a store with a database that reports commits of other processes. */
export interface Followable {
  /**
   * Calls `listener` after every commit of another process, from when the promise resolves until
   * `stop`. PostgreSQL also reports commits of this process. SQLite says `missed`, within a second.
   * One call can cover several commits: a process that commits often notifies at intervals, with
   * `missed`. If it dies in an interval, the next commit notifies. Therefore a listener that must
   * not wait for one also reads the store now and then. The listener must not throw.
   */
  follow(listener: (news: StoreEvent) => void): Promise<() => Promise<void>>;
}
