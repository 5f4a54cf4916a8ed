/**
 * base: the lowest layer. Errors, argument checks, package identity, small maps, the nearest name.
 *
 * Guarantees: every error of the package is an `AssizeError` with a stable `code`. A rejected
 * argument has no effect.
 *
 * Never: imports another folder, reads a clock or a file, draws a random number.
 */
import './node-version.ts';

export { isComputed } from './annex-b.ts';
export {
  ArgumentError,
  type ArgumentErrorCode,
  type ArgumentIssue,
  type ArgumentRefusal,
  type ArgumentSchema,
  arg,
  checkArgument,
} from './check-arguments.ts';
export { deepFreeze } from './deep-freeze.ts';
export { defineOwn } from './define-own.ts';
export { AssizeError, type ErrorDetails, isAssizeError, type Json } from './errors.ts';
export { GenerationalMap } from './generational-map.ts';
export { isRecord } from './is-record.ts';
export { LruCache } from './lru-cache.ts';
export { nearestName } from './nearest-name.ts';
export { NodeError, type NodeErrorCode } from './node-version.ts';
export {
  DuplicatePackageError,
  type DuplicatePackageErrorCode,
  markOwnPackage,
  refuseDuplicatePackage,
  requireOwnPackage,
} from './package-identity.ts';
export { isUnwantedPromise } from './promise.ts';
export { errorMessage, isInstance, thrownText, toError } from './thrown.ts';
export { TransientMap } from './transient-map.ts';
export { unlessAborted } from './unless-aborted.ts';
export { withoutPassword } from './without-password.ts';
