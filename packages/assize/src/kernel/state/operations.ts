import { escapeSegment, parsePointer } from '#canon';
import type { PatchOperation } from './patches.ts';

/** Applies one RFC 6902 operation. @throws Error for an operation that the state does not allow */
export function applyOperation(state: object, patch: PatchOperation): void {
  const keys = parsePointer(patch.path);
  const last = keys.pop();
  if (last === undefined) throw new Error('name a path inside the state');
  let here = state as Record<string, any>;
  let pointer = '';
  for (const key of keys) {
    pointer += `/${escapeSegment(key)}`;
    here = here[key];
    if (typeof here !== 'object' || here === null)
      throw new Error(`the state has no value at ${pointer}`);
  }
  if (!['add', 'replace', 'remove'].includes(patch.op))
    throw new Error('use add, replace or remove');
  if (Array.isArray(here)) applyToList(here, last, patch);
  else if (patch.op === 'add') here[last] = patch.value;
  else if (!Object.hasOwn(here, last)) throw new Error('the state has no value at that path');
  else if (patch.op === 'replace') here[last] = patch.value;
  else delete here[last];
}

function applyToList(list: unknown[], key: string, patch: PatchOperation): void {
  if (patch.op === 'add' && key === '-') list.push(patch.value);
  else if (patch.op === 'add') list.splice(indexOf(key, list.length), 0, patch.value);
  else if (patch.op === 'replace') list[indexOf(key, list.length - 1)] = patch.value;
  else list.splice(indexOf(key, list.length - 1), 1);
}

function indexOf(key: string, most: number): number {
  const index = Number(key);
  if (!(Number.isSafeInteger(index) && index >= 0 && index <= most && String(index) === key))
    throw new Error('the list has no such index');
  return index;
}
