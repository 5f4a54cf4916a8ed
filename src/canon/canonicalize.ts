import { types } from 'node:util';
import { explain, FAULT } from './fault.ts';
import { keyOrder } from './key-order.ts';
import { type CanonLimits, completeLimits } from './limits.ts';
import { quote } from './string-text.ts';

const { getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, getPrototypeOf } = Object;

/** What is left to spend; handed down, never global, because a Proxy's trap may call `canonicalize` again. */
interface Budget {
  nodes: number;
  /** Bytes, counted low (UTF-16 units); the finished text is counted exactly. */
  room: number;
  readonly anyInteger: boolean;
  readonly foreign: boolean;
}

/**
 * The canonical text of a value: RFC 8785 (JCS), for values that JSON can say exactly and no others. Nothing is
 * dropped, converted or called: what JSON cannot say is refused. −0 is written as 0 (RFC 8785 section 3.2.2.3); a member
 * named `__proto__` is a member like any other.
 * @throws CanonError with a code and the pointer of the place; `bad_limits` for limits that are none.
 */
export function canonicalize(value: unknown, limits?: Partial<CanonLimits>): string {
  const settings = completeLimits(limits);
  const budget: Budget = {
    nodes: settings.nodesMax - 1,
    room: settings.bytesMax,
    anyInteger: settings.integers === 'any',
    foreign: settings.foreign,
  };
  let text: string;
  try {
    if (budget.nodes < 0) throw FAULT;
    text = write(value, budget, settings.depthMax);
    if (text.length * 3 > settings.bytesMax && Buffer.byteLength(text) > settings.bytesMax) throw FAULT;
  } catch (error) {
    // The fast walk only knows that something is wrong, so that success pays nothing for pointers.
    throw explain(value, settings, error);
  }
  return text;
}

function write(value: unknown, budget: Budget, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value, budget);
    case 'number':
      return writeNumber(value, budget);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth === 0 || (budget.foreign && types.isProxy(value))) throw FAULT;
      return Array.isArray(value) ? writeArray(value, budget, depth - 1) : writeObject(value, budget, depth - 1);
    default:
      throw FAULT;
  }
}

function writeString(value: string, budget: Budget): string {
  budget.room -= value.length;
  if (budget.room < 0) throw FAULT;
  const quoted = quote(value);
  if (quoted === undefined) throw FAULT;
  return quoted;
}

function writeNumber(value: number, budget: Budget): string {
  // ECMAScript's own serialisation is the canonical one (RFC 8785 section 3.2.2.3), and gives 0 for −0.
  if (value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER) return '' + value;
  if (budget.anyInteger && Number.isFinite(value)) return '' + value;
  throw FAULT;
}

function writeObject(value: object, budget: Budget, depth: number): string {
  const proto = getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== null) throw FAULT;
  const names = getOwnPropertyNames(value);
  if (getOwnPropertySymbols(value).length !== 0) throw FAULT;
  if (names.length === 0) return '{}';
  budget.nodes -= names.length;
  if (budget.nodes < 0) throw FAULT;
  const order = keyOrder(names);
  if (order === undefined) throw FAULT;
  budget.room -= order.units;
  if (budget.room < 0) throw FAULT;
  const { sorted, leads } = order;
  let text = '';
  for (let i = 0; i < sorted.length; i++) {
    // The descriptor, not the member: reading an accessor would run code, and the next reading could differ.
    const member = getOwnPropertyDescriptor(value, sorted[i]!);
    if (member === undefined || member.value === undefined || !member.enumerable) throw FAULT;
    text += leads[i]! + write(member.value, budget, depth);
  }
  return text + '}';
}

function writeArray(value: readonly unknown[], budget: Budget, depth: number): string {
  if (getPrototypeOf(value) !== Array.prototype) throw FAULT;
  const { length } = value;
  budget.nodes -= length;
  budget.room -= length;
  if (budget.nodes < 0 || budget.room < 0) throw FAULT;
  // As many names as items: then there is no hole, and nothing beside the items.
  if (getOwnPropertyNames(value).length !== length + 1 || getOwnPropertySymbols(value).length !== 0) throw FAULT;
  if (length === 0) return '[]';
  let text = '[';
  for (let i = 0; i < length; i++) {
    const item = getOwnPropertyDescriptor(value, i);
    if (item === undefined || item.value === undefined || !item.enumerable) throw FAULT;
    text += (i === 0 ? '' : ',') + write(item.value, budget, depth);
  }
  return text + ']';
}
