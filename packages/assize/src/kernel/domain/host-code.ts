import { isUnwantedPromise } from '#base';
import { ValueFault } from '../errors.ts';

/**
 * A later step of an asynchronous function meets a draft that has ended. Its rejection is handled
 * (`isUnwantedPromise`).
 */
export function refusePromise(returned: unknown, what: string): void {
  if (isUnwantedPromise(returned))
    throw new ValueFault(
      `${what} returned a promise; make it synchronous and pass external results as observations`,
    );
}
