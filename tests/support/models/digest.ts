import { isContainer } from './json.ts';

/**
 * 32 bits that derive from a JSON value alone, for any order of its fields. Tests use them to
 * derive randomness from visible values, a hundred times a case. Equal values have the same bits,
 * and other values almost never do.
 */
export function digest(value: unknown): number {
  return scattered(mixed(value));
}

function mixed(value: unknown): number {
  if (typeof value === 'string') return textMixed(value);
  if (typeof value === 'number') return numberMixed(value);
  if (!isContainer(value)) return textMixed(String(value), 3);
  if (Array.isArray(value)) {
    let mix = 5;
    for (let at = 0; at < value.length; at++) mix = joined(mix, mixed(value[at]));
    return joined(mix, value.length);
  }
  let sum = 7;
  // A sum does not ask in which order.
  for (const key of Object.keys(value))
    sum = (sum + scattered(joined(textMixed(key), mixed(value[key])))) | 0;
  return sum;
}

function numberMixed(value: number): number {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31
    ? joined(11, value)
    : textMixed(String(value), 13);
}

/** FNV-1a, over code units. */
function textMixed(text: string, offset = 17): number {
  let mix = 0x811c9dc5 ^ offset;
  for (let at = 0; at < text.length; at++) mix = Math.imul(mix ^ text.charCodeAt(at), 0x01000193);
  return mix;
}

function joined(left: number, right: number): number {
  return scattered(Math.imul(left, 0x9e3779b1) + right);
}

/** The last steps of MurmurHash3: each input bit moves half of the output bits. */
function scattered(bits: number): number {
  let mix = bits ^ (bits >>> 16);
  mix = Math.imul(mix, 0x85ebca6b);
  mix ^= mix >>> 13;
  mix = Math.imul(mix, 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
