import { isPromise } from 'node:util/types';
import { promiseHooks } from 'node:v8';

/**
 * Whether a function that must be synchronous returned a promise, or another object with a `then`
 * that is a function or cannot be read. A later rejection of the promise then has a handler:
 * without one it would end the process.
 */
export function isUnwantedPromise(returned: unknown): boolean {
  if (isPromise(returned)) {
    handle(returned);
    return true;
  }
  try {
    return typeof (returned as { readonly then?: unknown } | null | undefined)?.then === 'function';
  } catch {
    return true;
  }
}

/**
 * Calls a function that may make promises and lose them, as a synchronous parse by an asynchronous
 * schema does. A later rejection of such a promise has a handler. This costs a microsecond.
 */
export function handlingPromises<T>(call: () => T): T {
  const made: Promise<unknown>[] = [];
  const stop = promiseHooks.onInit((promise) => void made.push(promise));
  try {
    return call();
  } finally {
    (stop as () => void)();
    for (const promise of made) handle(promise);
  }
}

function handle(promise: Promise<unknown>): void {
  Promise.prototype.then.call(promise, undefined, () => undefined);
}
