import type { Json } from '#base';
import { parsePointer } from '#canon';

/** The value at a JSON pointer; undefined where there is none. @throws CanonError for a text that is no pointer */
export function valueAt(value: Json, pointer: string): Json | undefined {
  let here: Json | undefined = value;
  for (const key of parsePointer(pointer)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as { readonly [key: string]: Json })[key];
  }
  return here;
}
