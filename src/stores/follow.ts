/** What a follower of a store is told. */
export type News =
  /** A trajectory has grown to this seq or beyond. */
  | { readonly kind: 'appended'; readonly trajectory_id: string; readonly seq: number }
  /** Something may have been committed that was not told: look for yourself. */
  | { readonly kind: 'missed' };

/** What a store can do besides, whose database tells when another process has committed. */
export interface Followable {
  /**
   * From when this is answered until `stop`, `listener` is told of every commit, by whatever process and one's own too, after
   * it. It is called once for several commits that came together, and must not throw.
   */
  follow(listener: (news: News) => void): Promise<() => Promise<void>>;
}
