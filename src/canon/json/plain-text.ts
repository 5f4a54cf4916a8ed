import { canonicalize } from './canonicalize.ts';
import { type CanonLimits, completeLimits } from './limits.ts';
import { hasNoSurrogateEscape, isOrderly } from './orderly.ts';

/**
 * The canonical text of data that was made here: literals, copies of `copyJson`, what `readCanonical` gave. It is the text
 * of `canonicalize`, with the same refusals; where the members stand in canonical order already it takes half the time.
 * Of anything else accessors would be called: that is for `canonicalize`.
 * @throws CanonError as `canonicalize` does
 */
export function plainText(data: unknown, limits?: Partial<CanonLimits>): string {
  const complete = completeLimits(limits);
  if (!isOrderly(data, complete)) return canonicalize(data, complete);
  const text = JSON.stringify(data);
  // A UTF-16 unit takes three bytes at most.
  const isSure = text.length * 3 <= complete.bytesMax && hasNoSurrogateEscape(text);
  return isSure ? text : canonicalize(data, complete);
}
