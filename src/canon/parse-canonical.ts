import { CanonError } from './canon-error.ts';
import { canonicalize } from './canonicalize.ts';
import type { Json } from './errors.ts';
import { type CanonLimits, completeLimits } from './limits.ts';
import { parseStrict } from './parse-strict.ts';

/**
 * The value of a stored text, which must be its own canonical text.
 * @throws CanonError `not_canonical` unless `canonicalize(parse(text), limits) === text`, whatever else is wrong with it: the
 * cause tells when it cannot be read or written at all, the evidence has the first place where the two texts part.
 */
export function parseCanonical(text: string, limits?: Partial<CanonLimits>): Json {
  const settings = completeLimits(limits);
  return parseFast(text, settings) ?? parseByDefinition(text, settings);
}

/** The value when the text is certainly canonical, otherwise undefined. */
function parseFast(text: string, limits: CanonLimits): Json | undefined {
  if (text.length * 3 > limits.bytesMax && Buffer.byteLength(text) > limits.bytesMax) return undefined;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    // The reader, which comes next, says what is wrong, and where.
    return undefined;
  }
  return isCanonical(value, text, limits) ? value : undefined;
}

function parseByDefinition(text: string, limits: CanonLimits): Json {
  let value: Json;
  let again: string;
  try {
    // Not `JSON.parse`, which cannot be trusted with names that have escapes (see `parse-strict.ts`).
    value = parseStrict(text, limits);
    again = canonicalize(value, limits);
  } catch (cause) {
    throw notCanonical(text, '', cause);
  }
  if (again !== text) throw notCanonical(text, again);
  return value;
}

/**
 * True only when the text is canonical and says this value; false also when this way cannot tell. `JSON.stringify` writes
 * what RFC 8785 wants but for the order of members, lone surrogates (as `\ud800`), and what the limits refuse: these are
 * looked at here.
 */
function isCanonical(value: Json, text: string, limits: CanonLimits): boolean {
  const left: Left = { nodes: limits.nodesMax - 1, anyInteger: limits.integers === 'any' };
  // The depth before the writing, for which the stack could be too short.
  if (!isOrderly(value, left, limits.depthMax) || left.nodes < 0) return false;
  return !text.includes('\\ud') && JSON.stringify(value) === text;
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
