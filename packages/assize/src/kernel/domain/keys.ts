/**
 * The keys that the stars of a member's path stand for. Empty for a place without stars. Frozen,
 * because domain code receives them.
 */
export type Keys = readonly string[];

export const NO_KEYS: Keys = Object.freeze([]);
