import type { Hash } from './hash.ts';

/**
 * Compares digit by digit. Each entry has five hashes to check, and a regular expression takes
 * three times as long.
 */
export function isHash(value: unknown): value is Hash {
  if (typeof value !== 'string' || value.length !== 64) return false;
  if (value === seen[0] || value === seen[1] || value === seen[2] || value === seen[3]) return true;
  for (let i = 0; i < 64; i++) if (IS_DIGIT[value.charCodeAt(i)] !== 1) return false;
  seen[next] = value;
  next = (next + 1) & 3;
  return true;
}

/** 1 at the code units of lower-case hex digits. */
const IS_DIGIT = Uint8Array.from({ length: 128 }, (_, unit) =>
  '0123456789abcdef'.includes(String.fromCharCode(unit)) ? 1 : 0,
);

/**
 * The last checked hashes. A parent is usually also the parent commit, and entries often repeat
 * writ and policy.
 */
const seen: [Hash, Hash, Hash, Hash] = ['', '', '', ''];
let next = 0;
