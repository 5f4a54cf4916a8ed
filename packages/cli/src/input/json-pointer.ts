import type { Json } from 'assize/internal/base';
import { parsePointer } from 'assize/internal/canon';

/**
 * The value at a JSON pointer. Undefined if the value does not exist.
 * @throws CanonError for an invalid pointer
 */
export function valueAt(value: Json, pointer: string): Json | undefined {
  let here: Json | undefined = value;
  for (const key of parsePointer(pointer)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as { readonly [key: string]: Json })[key];
  }
  return here;
}
