import { CanonError } from './canon-error.ts';
import { canonicalize } from './canonicalize.ts';
import type { Json } from './errors.ts';
import { type CanonLimits, completeLimits } from './limits.ts';

/**
 * The value of a stored text, which must be its own canonical text.
 * @throws CanonError `not_canonical` unless `canonicalize(JSON.parse(text), limits) === text`. The evidence has the first
 * place where the two texts part; the cause tells when there is no second text at all.
 */
export function parseCanonical(text: string, limits?: Partial<CanonLimits>): Json {
  const settings = completeLimits(limits);
  if (text.length * 3 > settings.bytesMax && Buffer.byteLength(text) > settings.bytesMax) {
    throw notCanonical(text, '', new CanonError('too_large', '', `The text has more than ${settings.bytesMax} bytes.`));
  }
  let value: Json;
  let again: string;
  try {
    value = JSON.parse(text) as Json;
    if (isCanonical(value, text, settings)) return value;
    again = canonicalize(value, settings);
  } catch (cause) {
    throw notCanonical(text, '', cause);
  }
  if (again !== text) throw notCanonical(text, again);
  return value;
}

/**
 * True only when the text is canonical; false also when this way cannot tell. `JSON.stringify` writes what RFC 8785 wants
 * but for the order of members, lone surrogates (as `\ud800`), and what the limits refuse: these are looked at here.
 */
function isCanonical(value: Json, text: string, limits: CanonLimits): boolean {
  if (text.includes('\\ud') || JSON.stringify(value) !== text) return false;
  const left: Left = { nodes: limits.nodesMax - 1, anyInteger: limits.integers === 'any' };
  return isOrderly(value, left, limits.depthMax) && left.nodes >= 0;
}

interface Left {
  nodes: number;
  readonly anyInteger: boolean;
}

/** Whether all members are in order as they are enumerated, and so were written, and nothing passes the limits. */
function isOrderly(value: Json, left: Left, depthLeft: number): boolean {
  if (typeof value === 'number') return left.anyInteger || Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (typeof value !== 'object' || value === null) return true;
  if (depthLeft === 0) return false;
  return Array.isArray(value)
    ? areItemsOrderly(value, left, depthLeft - 1)
    : areMembersOrderly(value as { readonly [key: string]: Json }, left, depthLeft - 1);
}

function areItemsOrderly(items: readonly Json[], left: Left, depthLeft: number): boolean {
  left.nodes -= items.length;
  for (let i = 0; i < items.length; i++) if (!isOrderly(items[i]!, left, depthLeft)) return false;
  return true;
}

function areMembersOrderly(object: { readonly [key: string]: Json }, left: Left, depthLeft: number): boolean {
  let last: string | undefined;
  // This is the fastest enumeration there is. A name that is inherited can only make the answer false, or change nothing.
  for (const name in object) {
    // By UTF-16 code units, as RFC 8785 section 3.2.3 orders.
    if (last !== undefined && last >= name) return false;
    last = name;
    left.nodes -= 1;
    if (!isOrderly(object[name]!, left, depthLeft)) return false;
  }
  return true;
}

function notCanonical(text: string, again: string, cause?: unknown): CanonError {
  let offset = 0;
  while (offset < again.length && again[offset] === text[offset]) offset += 1;
  return new CanonError('not_canonical', '', 'The text is not the canonical text of what it says.', {
    evidence: { offset },
    cause,
  });
}
