import type { Hash } from './entry.ts';

/** Digit by digit: every entry has five of them to look at, and a regular expression takes twice as long. */
export function isHash(value: unknown): value is Hash {
  if (typeof value !== 'string' || value.length !== 64) return false;
  if (value === seen[0] || value === seen[1] || value === seen[2] || value === seen[3]) return true;
  for (let i = 0; i < 64; i++) {
    const unit = value.charCodeAt(i);
    if (!((unit >= 0x30 && unit <= 0x39) || (unit >= 0x61 && unit <= 0x66))) return false;
  }
  seen[next] = value;
  next = (next + 1) & 3;
  return true;
}

/** The last that were looked at: a parent is mostly the parent commit too, and writ and policy are those of the entry before. */
const seen: [Hash, Hash, Hash, Hash] = ['', '', '', ''];
let next = 0;
