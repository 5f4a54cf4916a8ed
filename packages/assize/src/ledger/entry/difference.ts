import type { Json } from '#base';
import { escapeSegment } from '#canon';
import type { Patch } from './patch.ts';

type Container = readonly Json[] | { readonly [key: string]: Json };

/**
 * The RFC 6902 operations that turn one value into the other. Fields are in UTF-16 order of their
 * keys. List elements are compared by index, and surplus ones are removed from the end. An object
 * shared by both sides is equal and not compared.
 */
export function difference(before: Json, after: Json): Patch[] {
  const patches: Patch[] = [];
  compare(before, after, '', patches);
  return patches;
}

function compare(before: Json, after: Json, path: string, patches: Patch[]): void {
  if (before === after) return;
  if (
    !isContainer(before) ||
    !isContainer(after) ||
    Array.isArray(before) !== Array.isArray(after)
  ) {
    patches.push({ op: 'replace', path, value: after });
  } else if (Array.isArray(before)) compareLists(before, after as readonly Json[], path, patches);
  else compareObjects(before as Members, after as Members, path, patches);
}

type Members = { readonly [key: string]: Json };

function compareObjects(before: Members, after: Members, path: string, patches: Patch[]): void {
  for (const key of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    const place = `${path}/${escapeSegment(key)}`;
    if (!Object.hasOwn(after, key)) patches.push({ op: 'remove', path: place });
    else if (!Object.hasOwn(before, key))
      patches.push({ op: 'add', path: place, value: after[key] as Json });
    else compare(before[key] as Json, after[key] as Json, place, patches);
  }
}

function compareLists(
  before: readonly Json[],
  after: readonly Json[],
  path: string,
  patches: Patch[],
): void {
  const shared = Math.min(before.length, after.length);
  for (let i = 0; i < shared; i++)
    compare(before[i] as Json, after[i] as Json, `${path}/${i}`, patches);
  for (let i = shared; i < after.length; i++)
    patches.push({ op: 'add', path: `${path}/${i}`, value: after[i] as Json });
  for (let i = before.length - 1; i >= shared; i--)
    patches.push({ op: 'remove', path: `${path}/${i}` });
}

function isContainer(value: Json): value is Container {
  return typeof value === 'object' && value !== null;
}
