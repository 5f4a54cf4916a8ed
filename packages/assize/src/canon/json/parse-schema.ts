import { promiseHooks } from 'node:v8';
import { isUnwantedPromise } from '#base';
import type { SchemaIssues } from './schema-issues.ts';

/** A schema of zod, from any copy of it, with the members that a parse uses. */
interface Schema<Output> {
  safeParse(
    value: unknown,
    options?: any,
  ):
    | { readonly success: true; readonly data: Output }
    | { readonly success: false; readonly error: SchemaIssues };
}

/**
 * Parses a value by a schema of a caller. An asynchronous refinement or transform makes the parse
 * throw, and its own later rejection is handled.
 *
 * @throws the errors of the schema's code
 */
export function parseBySchema<Output>(
  schema: Schema<Output>,
  value: unknown,
  options?: object,
): ReturnType<Schema<Output>['safeParse']> {
  try {
    return runsCode(schema)
      ? handlingPromises(() => schema.safeParse(value, options))
      : schema.safeParse(value, options);
  } catch (error) {
    if ((error as Error | undefined)?.constructor?.name !== '$ZodAsyncError') throw error;
    throw new Error('a refinement or a transform returned a promise; make it synchronous', {
      cause: error,
    });
  }
}

/**
 * Calls a function that may make promises and lose them, as a synchronous parse by an asynchronous
 * schema does. A later rejection of such a promise has a handler. This costs a microsecond.
 */
function handlingPromises<T>(call: () => T): T {
  const made: Promise<unknown>[] = [];
  const stop = promiseHooks.onInit((promise) => void made.push(promise));
  try {
    return call();
  } finally {
    (stop as () => void)();
    made.forEach(isUnwantedPromise);
  }
}

/** Whether a schema has functions, such as a refinement. A schema never changes. */
function runsCode(schema: object): boolean {
  let runs = RUN_CODE.get(schema);
  if (runs === undefined) {
    runs = hasFunction(definitionOf(schema), new Set());
    RUN_CODE.set(schema, runs);
  }
  return runs;
}

const RUN_CODE = new WeakMap<object, boolean>();

function definitionOf(schema: unknown): unknown {
  return (schema as { readonly _zod?: { readonly def?: unknown } })._zod?.def;
}

/** Looks through the definition of a schema, of its parts and of its checks. */
function hasFunction(part: unknown, seen: Set<unknown>): boolean {
  if (typeof part === 'function')
    return definitionOf(part) === undefined || hasFunction(definitionOf(part), seen);
  if (typeof part !== 'object' || part === null || seen.has(part)) return false;
  seen.add(part);
  if ((part as { readonly check?: unknown }).check === 'custom') return true;
  const definition = definitionOf(part);
  if (definition !== undefined) return hasFunction(definition, seen);
  // The author's error messages are functions too, and zod throws away what they return.
  return Object.entries(part).some(
    ([name, member]) => name !== 'error' && hasFunction(member, seen),
  );
}
