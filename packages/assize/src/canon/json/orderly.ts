import type { CanonLimits } from './limits.ts';

/**
 * Whether the members of a value let `JSON.stringify` write its canonical text. The members must be
 * enumerated in the order of RFC 8785 section 3.2.3, every value must be plain data, and no limit
 * of depth, nodes or numbers may be exceeded. Strings are not checked: a lone surrogate becomes
 * `\ud…` in the written text, and the caller searches for that.
 *
 * For values that were parsed or created here. For any other value an accessor would be called, and
 * could answer differently next time.
 */
export function isOrderly(value: unknown, limits: CanonLimits): boolean {
  // Code in this process gave plain objects a `toJSON` method.
  if ('toJSON' in Object.prototype || 'toJSON' in Array.prototype) return false;
  const left: Left = { nodes: limits.nodesMax - 1, anyInteger: limits.integers === 'any' };
  return isPart(value, left, limits.depthMax) && left.nodes >= 0;
}

/** True if a written text cannot hide a lone surrogate. */
export function hasNoSurrogateEscape(text: string): boolean {
  return !text.includes('\\ud');
}

interface Left {
  nodes: number;
  readonly anyInteger: boolean;
}

function isPart(value: unknown, left: Left, depthLeft: number): boolean {
  if (typeof value === 'string') return true;
  if (typeof value === 'number') {
    return (
      Math.abs(value) <= Number.MAX_SAFE_INTEGER || (left.anyInteger && Number.isFinite(value))
    );
  }
  if (typeof value !== 'object') return typeof value === 'boolean';
  if (value === null) return true;
  if (depthLeft === 0 || left.nodes < 0) return false;
  return Array.isArray(value)
    ? areItems(value, left, depthLeft - 1)
    : areMembers(value, left, depthLeft - 1);
}

function areItems(items: readonly unknown[], left: Left, depthLeft: number): boolean {
  if (Object.getPrototypeOf(items) !== Array.prototype) return false;
  left.nodes -= items.length;
  for (let i = 0; i < items.length; i++) if (!isPart(items[i], left, depthLeft)) return false;
  return true;
}

function areMembers(object: object, left: Left, depthLeft: number): boolean {
  if (Object.getPrototypeOf(object) !== Object.prototype) return false;
  let last: string | undefined;
  // This is the fastest enumeration. An inherited name can only make the answer false, or change
  // nothing.
  for (const name in object) {
    // By UTF-16 code units, the order of RFC 8785 section 3.2.3.
    if (last !== undefined && last >= name) return false;
    last = name;
    left.nodes -= 1;
    if (!isPart((object as Record<string, unknown>)[name], left, depthLeft)) return false;
  }
  return true;
}
