/** The keys that the stars of a member's path stand for. Empty for a place without stars. */
export type Keys = readonly string[];

export const NO_KEYS: Keys = [];
