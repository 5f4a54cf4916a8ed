import type { Instant } from '#ledger';

/** A read that a ruling needs first, usually of facts. The caller awaits it and rules again. */
export interface Needs<Read = unknown> {
  readonly needs: () => Promise<Read>;
}

/** A judge's vote returns the time of the statements, so that the question stays the same. */
export type NeedsFacts = Needs<Instant | undefined>;

export function needs(read: () => Promise<Instant> | Promise<void>): NeedsFacts {
  return { needs: async () => (await read()) ?? undefined };
}
