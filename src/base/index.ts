/**
 * base: the lowest layer. Errors, argument checks, package identity and small maps.
 *
 * Guarantees: every error of the package is an `AssizeError` with a stable `code`. A rejected
 * argument has no effect.
 *
 * Never: imports another folder, reads a clock or a file, draws a random number.
 */
import './node-version.ts';

export { isComputed } from './annex-b.ts';
export { ArgumentError, type ArgumentErrorCode, type Form, form, requireForm } from './check-arguments.ts';
export { setOwn } from './define-own.ts';
export { AssizeError, type ErrorDetails, isAssizeError, type Json } from './errors.ts';
export { BoundedCache } from './fifo-cache.ts';
export { RecentMap } from './lru-map.ts';
export { NodeError, type NodeErrorCode } from './node-version.ts';
export { CopyError, type CopyErrorCode, madeHere, refuseOtherCopy, requireMadeHere } from './package-identity.ts';
export { thrownOf } from './thrown.ts';
export { ChurnMap } from './transient-map.ts';
