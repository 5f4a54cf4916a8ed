import { types } from 'node:util';
import { errorMessage, isInstance, type Json, toError } from '#base';
import { DidNothing, NoAnswer, whyOf } from './errors.ts';

const READ = ['isFinal', 'key', 'answer', 'afterMs', 'why'] as const;

/**
 * A value that a tool threw, as the runtime uses it. An error with accessors, or behind a Proxy, is
 * replaced by a new one: each member is read once, and no later read can throw. A `DidNothing` that
 * cannot be read may have executed the call, as any other error.
 */
export function ownFailure(thrown: unknown): unknown {
  const error = toError(thrown);
  try {
    const isNothing = isInstance(error, DidNothing);
    if (!isNothing && !isInstance(error, NoAnswer)) return error;
    if (!types.isProxy(error) && READ.every((name) => isPlain(error, name))) return error;
    const message = errorMessage(error) ?? '';
    const { afterMs, cause } = error;
    const options = { afterMs: typeof afterMs === 'number' ? afterMs : undefined, cause };
    if (!isNothing) return new NoAnswer(message, { ...options, why: whyOf(error) ?? '' });
    const { isFinal, key, answer } = error;
    return new DidNothing(message, {
      ...options,
      final: isFinal,
      key: typeof key === 'string' ? key : undefined,
      answer: answer as Json | undefined,
      why: whyOf(error),
    });
  } catch (unread) {
    return new Error('the thrown value cannot be read', { cause: toError(unread) });
  }
}

/** Whether the member is absent, or a value of the error itself. */
function isPlain(error: object, name: string): boolean {
  const own = Object.getOwnPropertyDescriptor(error, name);
  return own === undefined ? !(name in error) : 'value' in own;
}
