import { defineOwn, type Json } from '#base';
import { parsePointer } from '#canon';
import type { Patch } from '../entry/patch.ts';

/**
 * A folded state. `owned`: the parts that may be changed in place. Undefined: all parts (see
 * `share`).
 */
export interface Folded {
  state: Record<string, unknown>;
  owned: WeakSet<object> | undefined;
}

/** A state without other references to it. */
export function fresh(state: Json): Folded {
  return { state: state as Record<string, unknown>, owned: undefined };
}

/**
 * A second fold of the same state, for a branch. Both folds continue independently, and each copies
 * only the levels that it changes. A branch therefore costs its changes and not its inherited
 * state.
 */
export function share(fold: Folded): Folded {
  fold.owned = new WeakSet();
  return { state: fold.state, owned: new WeakSet() };
}

const OPERATIONS: ReadonlySet<string> = new Set(['add', 'replace', 'remove']);

/**
 * Applies the operations of one commit in order. `add` requires a missing value (in a list: its
 * end). `replace` and `remove` require an existing value (in a list: `remove` only at its end). The
 * kernel writes only such operations.
 *
 * @throws Error with the reason; the fold must not be used afterwards
 */
export function applyPatches(fold: Folded, patches: readonly Patch[]): void {
  for (const patch of patches) applyPatch(fold, patch);
}

function applyPatch(fold: Folded, patch: Patch): void {
  if (!OPERATIONS.has(patch.op)) throw new Error(`${patch.op} is not an operation of a commit`);
  if (patch.op !== 'remove' && patch.value === undefined)
    throw new Error(`${patch.path}: ${patch.op} has no value`);
  const keys = parsePointer(patch.path);
  const last = keys.pop();
  if (last === undefined) throw new Error('a patch does not name a path inside the state');
  fold.state = ownedCopy(fold.state, fold.owned);
  let here: Record<string, unknown> = fold.state;
  for (const key of keys) {
    const next = Object.hasOwn(here, key) ? here[key] : undefined;
    if (typeof next !== 'object' || next === null)
      throw new Error(`${patch.path}: its parent does not exist`);
    const own = ownedCopy(next as Record<string, unknown>, fold.owned);
    if (own !== next) defineOwn(here, key, own);
    here = own;
  }
  const exists = Object.hasOwn(here, last);
  if (Array.isArray(here)) applyToList(here, last, exists, patch);
  else if (patch.op === 'add' && exists) throw new Error(`${patch.path}: add of an existing value`);
  else if (patch.op !== 'add' && !exists)
    throw new Error(`${patch.path}: ${patch.op} of a missing value`);
  else if (patch.op === 'remove') delete here[last];
  else defineOwn(here, last, patch.value);
}

function applyToList(list: unknown[], key: string, exists: boolean, patch: Patch): void {
  if (patch.op === 'add') {
    if (key !== String(list.length)) throw new Error(`${patch.path}: a list only grows at its end`);
    list.push(patch.value);
  } else if (patch.op === 'remove') {
    if (key !== String(list.length - 1))
      throw new Error(`${patch.path}: a list only shrinks at its end`);
    list.pop();
  } else {
    if (!exists || key === 'length') throw new Error(`${patch.path}: replace of a missing value`);
    list[Number(key)] = patch.value;
  }
}

function ownedCopy<T extends object>(value: T, owned: WeakSet<object> | undefined): T {
  if (owned === undefined || owned.has(value)) return value;
  const copy = (Array.isArray(value) ? value.slice() : { ...value }) as T;
  owned.add(copy);
  return copy;
}
