import { canonicalize } from './canonicalize.ts';
import { type CanonLimits, completeLimits } from './limits.ts';
import { hasNoSurrogateEscape, isOrderly } from './orderly.ts';

/**
 * The canonical text of data created here: literals, copies of `copyJson`, results of
 * `readCanonical`. Returns the text of `canonicalize` with the same refusals, in half the time if
 * the members are already in canonical order. For other data accessors would be called: use
 * `canonicalize`.
 *
 * @throws CanonError the errors of `canonicalize`
 */
export function plainText(data: unknown, limits?: Partial<CanonLimits>): string {
  const complete = completeLimits(limits);
  if (!isOrderly(data, complete)) return canonicalize(data, complete);
  const text = JSON.stringify(data);
  // A UTF-16 unit needs three bytes at most.
  const isSure = text.length * 3 <= complete.bytesMax && hasNoSurrogateEscape(text);
  return isSure ? text : canonicalize(data, complete);
}
