/** What the stars of a member's path stand for; empty for a place that has none. */
export type Keys = readonly string[];

export const NO_KEYS: Keys = [];
