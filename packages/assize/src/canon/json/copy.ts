import { types } from 'node:util';
import { defineOwn, isComputed, isInstance, type Json } from '#base';
import { CanonError } from './canon-error.ts';
import { canonicalize, isDense } from './canonicalize.ts';
import { explain, FAULT } from './fault.ts';
import { areSorted, knownOrder, sortKeys } from './key-order.ts';
import { type CanonLimits, completeLimits } from './limits.ts';

const {
  getOwnPropertyDescriptor,
  getOwnPropertyNames,
  getOwnPropertySymbols,
  getPrototypeOf,
  keys,
} = Object;

/** Maximum number of bytes per UTF-16 unit, for the form `\u001f`. */
const UNIT_BYTES_MAX = 6;
/**
 * Maximum number of bytes per value in addition to its characters: quotes, brackets, colon, comma,
 * or the 24 characters of a number.
 */
const NODE_BYTES_MAX = 26;

/** The remaining budget. */
interface Budget {
  nodes: number;
  /**
   * Never less than the bytes of the canonical text. Only a value that may be too large is
   * measured.
   */
  bytesAtMost: number;
  readonly anyInteger: boolean;
  readonly foreign: boolean;
}

/**
 * A deep copy that shares nothing with the value: plain objects with members in canonical order
 * (except array-index names: the language sorts them first), dense arrays, −0 as 0, an own
 * `__proto__` as a member. A value that can be copied has a canonical text, and the copy has the
 * same.
 *
 * @throws CanonError exactly when `canonicalize` does, with the same code and pointer.
 */
export function copyJson(value: unknown, limits?: Partial<CanonLimits>): Json {
  const settings = completeLimits(limits);
  const { nodesMax, bytesMax, depthMax, integers, foreign } = settings;
  const budget: Budget = {
    nodes: nodesMax,
    bytesAtMost: 0,
    anyInteger: integers === 'any',
    foreign,
  };
  let copied: Json;
  try {
    spendNodes(budget, 1);
    copied = copy(value, budget, depthMax);
  } catch (error) {
    throw explain(value, settings, error);
  }
  if (budget.bytesAtMost > bytesMax && !fits(copied, settings))
    throw explain(value, settings, FAULT);
  return copied;
}

/** Writing the text measures it. */
function fits(copied: Json, limits: CanonLimits): boolean {
  try {
    canonicalize(copied, limits);
    return true;
  } catch (error) {
    if (isInstance(error, CanonError)) return false;
    throw error;
  }
}

/**
 * Checks the same rules as the writer of `canonicalize`, and throws `FAULT` for the same values.
 */
function copy(value: unknown, budget: Budget, depthLeft: number): Json {
  budget.bytesAtMost += NODE_BYTES_MAX;
  if (typeof value === 'string') return copyString(value, budget);
  if (typeof value === 'number') return copyNumber(value, budget);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object' || depthLeft === 0) throw FAULT;
  const isProxy = types.isProxy(value);
  if (isProxy && budget.foreign) throw FAULT;
  return Array.isArray(value)
    ? copyArray(value, budget, depthLeft - 1)
    : copyObject(value, isProxy, budget, depthLeft - 1);
}

function copyString(value: string, budget: Budget): string {
  budget.bytesAtMost += value.length * UNIT_BYTES_MAX;
  if (!value.isWellFormed()) throw FAULT;
  return value;
}

function copyNumber(value: number, budget: Budget): number {
  const safe = value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER;
  if (!safe && !(budget.anyInteger && Number.isFinite(value))) throw FAULT;
  return value === 0 ? 0 : value;
}

function copyObject(value: object, isProxy: boolean, budget: Budget, depthLeft: number): Json {
  const proto: unknown = getPrototypeOf(value);
  if ((proto !== Object.prototype && proto !== null) || getOwnPropertySymbols(value).length !== 0)
    throw FAULT;
  const names = getOwnPropertyNames(value);
  if (names.length === 0) return {};
  spendNodes(budget, names.length);
  const order = knownOrder(names);
  if (order === undefined) requireWellFormed(names);
  const given = isProxy ? askMembers(value, names) : undefined;
  const copied =
    (order?.inOrder ?? areSorted(names))
      ? (given ?? cloneMembers(value, names))
      : arrangeMembers(given ?? value, order?.sorted ?? sortedNames(names));
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    budget.bytesAtMost += name.length * UNIT_BYTES_MAX;
    const inner = copied[name];
    const own = copy(inner, budget, depthLeft);
    // All members are own by now, `__proto__` too, so this never calls the setter of the prototype.
    if (!Object.is(own, inner)) copied[name] = own;
  }
  return copied;
}

/** The members in another order. */
function arrangeMembers(value: object, sorted: readonly string[]): Record<string, Json> {
  const arranged: Record<string, Json> = {};
  for (let i = 0; i < sorted.length; i++)
    defineOwn(arranged, sorted[i]!, memberOf(value, sorted[i]!).value);
  return arranged;
}

function sortedNames(names: readonly string[]): string[] {
  const sorted = names.slice();
  sortKeys(sorted);
  return sorted;
}

/**
 * The members in their own order. A spread reuses the hidden class and is several times faster than
 * copying each member.
 */
function cloneMembers(value: object, names: readonly string[]): Record<string, Json> {
  // All descriptors first: the spread would call an accessor.
  for (let i = 0; i < names.length; i++) memberOf(value, names[i]!);
  return { ...value } as Record<string, Json>;
}

/** The members of a Proxy, each read once. A second read could return an unchecked value. */
function askMembers(value: object, names: readonly string[]): Record<string, Json> {
  const asked: Record<string, Json> = {};
  for (const name of names) {
    const member = memberOf(value, name);
    Object.defineProperty(asked, name, {
      value: member.value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return asked;
}

function memberOf(value: object, name: string): PropertyDescriptor {
  const member = getOwnPropertyDescriptor(value, name);
  // An accessor has no value, and undefined is refused.
  if (member === undefined || member.value === undefined || !member.enumerable) throw FAULT;
  return member;
}

function requireWellFormed(names: readonly string[]): void {
  for (const name of names) if (!name.isWellFormed()) throw FAULT;
}

function copyArray(value: readonly unknown[], budget: Budget, depthLeft: number): Json {
  if (getPrototypeOf(value) !== Array.prototype || getOwnPropertySymbols(value).length !== 0)
    throw FAULT;
  const { length } = value;
  spendNodes(budget, length);
  if (!isDense(keys(value), length)) throw FAULT;
  const copied: Json[] = [];
  for (let i = 0; i < length; i++) {
    if (isComputed(value, i)) throw FAULT;
    copied.push(copy(value[i], budget, depthLeft));
  }
  return copied;
}

function spendNodes(budget: Budget, count: number): void {
  budget.nodes -= count;
  if (budget.nodes < 0) throw FAULT;
}
