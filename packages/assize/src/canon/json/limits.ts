import { CanonError } from './canon-error.ts';

/** The maximum size of a value. The same limits apply to values, texts and copies. */
export interface CanonLimits {
  /** Nesting depth of containers: `[]` is one deep. */
  readonly depthMax: number;
  /** UTF-8 bytes, of the canonical text and of a parsed text. */
  readonly bytesMax: number;
  /** Values visited: the root and every member and item. A shared value counts each time. */
  readonly nodesMax: number;
  /**
   * 'safe' refuses integers beyond 2^53−1, because other readers would round them. 'any' accepts
   * every finite double, as RFC 8785 does (its published vectors contain 1E30).
   */
  readonly integers: 'safe' | 'any';
  /**
   * True refuses Proxies, because they pass every structural check. Set it for values from
   * untrusted code.
   */
  readonly foreign: boolean;
}

/**
 * The default limits: payloads of 1 MiB (docs/decisions/018-canonical-bytes.md). Increase
 * `bytesMax` for snapshots of whole states. The node limit ends a bomb of shared references in a
 * fraction of a second.
 */
export const DEFAULT_LIMITS: CanonLimits = Object.freeze({
  depthMax: 64,
  bytesMax: 1_048_576,
  nodesMax: 262_144,
  integers: 'safe',
  foreign: false,
});

/** At a greater depth the recursion itself could overflow the stack. */
const DEPTH_CEILING = 1_000;

/**
 * The limits with defaults filled in.
 *
 * @throws CanonError `bad_argument` for an invalid limit: not a whole number, out of range, an
 * unknown word.
 */
export function completeLimits(limits: Partial<CanonLimits> | undefined): CanonLimits {
  if (limits === undefined || limits === DEFAULT_LIMITS) return DEFAULT_LIMITS;
  const before = completed.get(limits);
  if (before !== undefined) return before;
  const complete = { ...DEFAULT_LIMITS, ...limits };
  requireCount('depthMax', complete.depthMax, DEPTH_CEILING);
  requireCount('bytesMax', complete.bytesMax, Number.MAX_SAFE_INTEGER);
  requireCount('nodesMax', complete.nodesMax, Number.MAX_SAFE_INTEGER);
  if (complete.integers !== 'safe' && complete.integers !== 'any')
    refuse('integers', complete.integers, "'safe' or 'any'");
  if (typeof complete.foreign !== 'boolean') refuse('foreign', complete.foreign, 'a boolean');
  if (isFixed(limits)) completed.set(limits, complete);
  return complete;
}

/**
 * Completed limits of immutable settings, for modules that pass the same limits with every value.
 */
const completed = new WeakMap<object, CanonLimits>();

function isFixed(limits: Partial<CanonLimits>): boolean {
  if (typeof limits !== 'object' || limits === null || !Object.isFrozen(limits)) return false;
  return Object.values(Object.getOwnPropertyDescriptors(limits)).every(
    (member) => 'value' in member,
  );
}

function requireCount(name: string, value: unknown, max: number): void {
  const ok = Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max;
  if (!ok) refuse(name, value, `a whole number from 0 to ${max}`);
}

function refuse(limit: string, value: unknown, wanted: string): never {
  throw new CanonError('bad_argument', '', `The limit ${limit} must be ${wanted}.`, {
    evidence: {
      limit,
      given:
        typeof value === 'object' || typeof value === 'function' ? typeof value : String(value),
    },
  });
}

/** Limits of whole states and of their blobs: 256 MiB. */
export const WORLD_LIMITS: Readonly<Pick<CanonLimits, 'bytesMax' | 'nodesMax'>> = Object.freeze({
  bytesMax: 268_435_456,
  nodesMax: 100_000_000,
});
