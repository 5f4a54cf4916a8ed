import { CanonError } from './canon-error.ts';

/** How much a value may be. The same limits hold for values, texts and copies. */
export interface CanonLimits {
  /** Containers inside each other: `[]` is one deep. */
  readonly depthMax: number;
  /** UTF-8 bytes, of the canonical text and of a text that is parsed. */
  readonly bytesMax: number;
  /** Values visited, the root and every member and item; a value that is shared counts each time it is met. */
  readonly nodesMax: number;
  /**
   * 'safe' refuses integers beyond 2^53−1, which other readers would round; 'any' lets every finite double pass, as
   * RFC 8785 does (its published vectors contain 1E30).
   */
  readonly integers: 'safe' | 'any';
  /** True refuses Proxies, which pass every structural check: set it for values that come from code one does not trust. */
  readonly foreign: boolean;
}

/**
 * For everybody, unless a setting says otherwise: payloads of 1 MiB (DESIGN §4). Raise `bytesMax` for snapshots of whole
 * worlds; the node budget is only there so that a bomb of shared references ends in a fraction of a second.
 */
export const DEFAULT_LIMITS: CanonLimits = Object.freeze({
  depthMax: 64,
  bytesMax: 1_048_576,
  nodesMax: 262_144,
  integers: 'safe',
  foreign: false,
});

/** Deeper than this the recursion itself could meet the end of the stack. */
const DEPTH_CEILING = 1_000;

/**
 * The limits with defaults filled in.
 * @throws CanonError `bad_limits` for a limit that would not limit: not a whole number, out of range, an unknown word.
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

/** Limits that can't change, as they were completed: those of a module that asks for them with every value. */
const completed = new WeakMap<object, CanonLimits>();

function isFixed(limits: Partial<CanonLimits>): boolean {
  if (typeof limits !== 'object' || limits === null || !Object.isFrozen(limits)) return false;
  return Object.values(Object.getOwnPropertyDescriptors(limits)).every((member) => 'value' in member);
}

function requireCount(name: string, value: unknown, max: number): void {
  const ok = Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max;
  if (!ok) refuse(name, value, `a whole number from 0 to ${max}`);
}

function refuse(limit: string, value: unknown, wanted: string): never {
  throw new CanonError('bad_limits', '', `The limit ${limit} must be ${wanted}.`, {
    evidence: { limit, given: typeof value === 'object' || typeof value === 'function' ? typeof value : String(value) },
  });
}

/** Limits of whole worlds, and of the blobs that hold them: 256 MiB. */
export const WORLD_LIMITS: Readonly<Pick<CanonLimits, 'bytesMax' | 'nodesMax'>> = Object.freeze({
  bytesMax: 268_435_456,
  nodesMax: 100_000_000,
});
