import { ValueFault } from '../errors.ts';

/**
 * A later step of an asynchronous function meets a draft that has ended, and must not end the
 * process.
 */
export function refusePromise(returned: unknown, what: string): void {
  if (!isThenable(returned)) return;
  if (returned instanceof Promise) returned.then(undefined, () => undefined);
  throw new ValueFault(`${what} returned a promise; make it synchronous and pass external results as observations`);
}

export function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function';
}
