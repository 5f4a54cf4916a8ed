import type { Instant } from '#ledger';

/** A read that a ruling needs first, usually of facts. The caller awaits it and rules again. */
export interface Needs {
  /**
   * For a judge's vote: returns the time of the statements, so that the question stays the same.
   */
  readonly needs: () => Promise<Instant | undefined>;
}

export function needs(read: () => Promise<Instant> | Promise<void>): Needs {
  return { needs: async () => (await read()) ?? undefined };
}
