/**
 * base: the lowest layer. Errors, argument checks, package identity, small maps, the nearest name.
 *
 * Guarantees: every error of the package is an `AssizeError` with a stable `code`. A rejected
 * argument has no effect.
 *
 * Never: imports another folder, reads a clock or a file, draws a random number.
 */
import './node-version.ts';

export {
  ArgumentError,
  type ArgumentIssue,
  type ArgumentRefusal,
  type ArgumentSchema,
  arg,
  checkArgument,
} from './check-arguments.ts';
export {
  AssizeError,
  codeFor,
  type ErrorDetails,
  type GeneralCode,
  isAssizeError,
  type Json,
} from './errors.ts';
export { GenerationalMap, LruCache, TransientMap } from './maps.ts';
export { nearestName } from './nearest-name.ts';
export { NodeError, type NodeErrorCode } from './node-version.ts';
export { deepFreeze, defineOwn, isComputed, isRecord } from './objects.ts';
export {
  DuplicatePackageError,
  type DuplicatePackageErrorCode,
  markOwnPackage,
  refuseDuplicatePackage,
  requireOwnPackage,
} from './package-identity.ts';
export { isUnwantedPromise, unlessAborted } from './promises.ts';
export { errorMessage, isInstance, thrownText, toError } from './thrown.ts';
export { withoutPassword } from './without-password.ts';
