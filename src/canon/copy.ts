import { types } from 'node:util';
import type { Json } from './errors.ts';
import { explain, FAULT, findFault } from './fault.ts';
import { keyOrder } from './key-order.ts';
import { type CanonLimits, completeLimits } from './limits.ts';

const { getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, getPrototypeOf } = Object;

/** What a UTF-16 unit can become at most: `\u001f`. */
const ESCAPED_BYTES_MAX = 6;
/** The longest number is `-1.2345678901234567e-308`, with room for its comma. */
const NUMBER_BYTES_MAX = 26;

interface Budget {
  nodes: number;
  /** Bytes of the canonical text, counted high; when they pass the limit the value is measured exactly. */
  bytes: number;
  readonly anyInteger: boolean;
  readonly foreign: boolean;
}

/**
 * A deep copy that shares nothing with the value: plain objects with the members in their own order, dense arrays, −0
 * made 0, an own `__proto__` kept as a member. A value that is copied has a canonical text, and the copy has the same.
 * @throws CanonError exactly when `canonicalize` does, with the same code and pointer.
 */
export function copyJson(value: unknown, limits?: Partial<CanonLimits>): Json {
  const settings = completeLimits(limits);
  const budget: Budget = {
    nodes: settings.nodesMax - 1,
    bytes: 0,
    anyInteger: settings.integers === 'any',
    foreign: settings.foreign,
  };
  let copied: Json;
  try {
    if (budget.nodes < 0) throw FAULT;
    copied = copy(value, budget, settings.depthMax);
  } catch (error) {
    throw explain(value, settings, error);
  }
  if (budget.bytes > settings.bytesMax) {
    const fault = findFault(copied, settings);
    if (fault !== undefined) throw fault;
  }
  return copied;
}

function copy(value: unknown, budget: Budget, depth: number): Json {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw FAULT;
      budget.bytes += (value.length + 1) * ESCAPED_BYTES_MAX;
      return value;
    case 'number':
      return copyNumber(value, budget);
    case 'boolean':
      budget.bytes += NUMBER_BYTES_MAX;
      return value;
    case 'object':
      if (value === null) {
        budget.bytes += NUMBER_BYTES_MAX;
        return value;
      }
      if (depth === 0 || (budget.foreign && types.isProxy(value))) throw FAULT;
      return Array.isArray(value) ? copyArray(value, budget, depth - 1) : copyObject(value, budget, depth - 1);
    default:
      throw FAULT;
  }
}

function copyNumber(value: number, budget: Budget): number {
  const safe = value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER;
  if (!safe && !(budget.anyInteger && Number.isFinite(value))) throw FAULT;
  budget.bytes += NUMBER_BYTES_MAX;
  return value === 0 ? 0 : value;
}

function copyObject(value: object, budget: Budget, depth: number): Json {
  const proto = getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== null) throw FAULT;
  const names = getOwnPropertyNames(value);
  if (getOwnPropertySymbols(value).length !== 0) throw FAULT;
  budget.bytes += 3;
  if (names.length === 0) return {};
  budget.nodes -= names.length;
  if (budget.nodes < 0) throw FAULT;
  const order = keyOrder(names);
  if (order === undefined) throw FAULT;
  budget.bytes += order.units * 3;
  const copied: Record<string, Json> = {};
  for (const name of names) {
    const member = getOwnPropertyDescriptor(value, name);
    if (member === undefined || member.value === undefined || !member.enumerable) throw FAULT;
    const inner = copy(member.value, budget, depth);
    if (name === '__proto__') ownProto(copied, inner);
    else copied[name] = inner;
  }
  return copied;
}

function copyArray(value: readonly unknown[], budget: Budget, depth: number): Json {
  if (getPrototypeOf(value) !== Array.prototype) throw FAULT;
  const { length } = value;
  budget.nodes -= length;
  if (budget.nodes < 0) throw FAULT;
  if (getOwnPropertyNames(value).length !== length + 1 || getOwnPropertySymbols(value).length !== 0) throw FAULT;
  budget.bytes += 3;
  const copied: Json[] = [];
  for (let i = 0; i < length; i++) {
    const item = getOwnPropertyDescriptor(value, i);
    if (item === undefined || item.value === undefined || !item.enumerable) throw FAULT;
    copied.push(copy(item.value, budget, depth));
  }
  return copied;
}

/** Assignment would set the prototype; a definition makes it the member that it is in JSON. */
function ownProto(target: Record<string, Json>, value: Json): void {
  Object.defineProperty(target, '__proto__', { value, writable: true, enumerable: true, configurable: true });
}
