import { z } from 'zod';
import { segment } from '#authority';
import type { Json } from '#base';
import { parsePointer, toPointer } from '#canon';
import type { ActionSpec } from '../domain/domain.ts';

/**
 * The built-in action that erases sensitive values. The runtime creates its arguments, never the
 * requester.
 */
export const ERASE_ACTION = 'assize.erase';

interface EraseArgs {
  readonly at: readonly string[];
  readonly entries: readonly string[];
  readonly beliefs?: readonly { readonly space: string }[];
  readonly transactions?: readonly number[];
  readonly values: readonly { readonly hash: string; readonly path?: string }[];
}

/**
 * Writes `{"$erased": hash}` in every place that still holds an erased value. It needs a writ for
 * `erase:/place` of each requested place, for `erase:entry:ID` of each entry, for
 * `erase:memory:SPACE` of each space of facts, and for `erase:effects:EPOCH` of each tool
 * transaction.
 */
export const eraseAction: ActionSpec = Object.freeze({
  process: ERASE_ACTION,
  args: z.custom<Json>(),
  scopes: (args: Json) => {
    const { at, entries, beliefs = [], transactions = [] } = args as unknown as EraseArgs;
    return [
      ...at.map(eraseScope),
      ...entries.map((id) => `erase:entry:${id}`),
      ...beliefs.map(({ space }) => eraseMemoryScope(space)),
      ...transactions.map((epoch) => `erase:effects:${epoch}`),
    ];
  },
  apply: (state: Record<string, unknown>, args: Json) => {
    for (const { hash, path } of (args as unknown as EraseArgs).values) {
      if (path !== undefined) put(state, path, { $erased: hash });
    }
  },
});

/**
 * The resource that a writ must cover to erase a place and the places below it:
 * `erase:/patients/david`.
 */
export function eraseScope(pointer: string): string {
  return `erase:${parsePointer(pointer)
    .map((key) => `/${segment(key)}`)
    .join('')}`;
}

/** The resource that a writ must cover to erase facts of a space: `erase:memory:ward`. */
export function eraseMemoryScope(space: string): string {
  return `erase:memory:${segment(space)}`;
}

function put(state: Record<string, unknown>, path: string, value: unknown): void {
  const keys = parsePointer(path);
  const last = keys.pop() as string;
  let here: Record<string, unknown> = state;
  for (const key of keys) {
    here = here[key] as Record<string, unknown>;
    if (typeof here !== 'object' || here === null)
      throw new Error(`the state has no value at ${toPointer(keys)}`);
  }
  here[last] = value;
}
