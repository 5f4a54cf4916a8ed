import { types } from 'node:util';
import { isComputed } from '#base';
import { ByteText } from './byte-text.ts';
import { explain, FAULT } from './fault.ts';
import { type KeyOrder, knownOrder, sortKeys } from './key-order.ts';
import { type CanonLimits, completeLimits } from './limits.ts';

const {
  getOwnPropertyDescriptor,
  getOwnPropertyNames,
  getOwnPropertySymbols,
  getPrototypeOf,
  keys,
} = Object;

/**
 * The canonical text of a value: RFC 8785 (JCS), for values that JSON can represent exactly and no
 * others. Nothing is dropped, converted or called: a value that JSON cannot represent is refused.
 * −0 is written as 0 (RFC 8785 section 3.2.2.3). A member named `__proto__` is an ordinary member.
 *
 * @throws CanonError with a code and the pointer of the place; `bad_argument` for invalid limits.
 */
export function canonicalize(value: unknown, limits?: Partial<CanonLimits>): string {
  const settings = completeLimits(limits);
  try {
    // A Proxy's trap may call back here while the shared writer is in use.
    return (shared.busy ? new Writer() : shared).canonicalize(value, settings);
  } catch (error) {
    // The writer reports only that a fault exists, so that success pays nothing for codes and
    // pointers.
    throw explain(value, settings, error);
  }
}

/**
 * Writes and checks in one walk. It throws `FAULT` for exactly the faults that `fault.ts` explains.
 */
class Writer {
  readonly #text = new ByteText();
  #nodesLeft = 0;
  #bytesMax = 0;
  #anyInteger = false;
  #foreign = false;
  busy = false;

  canonicalize(value: unknown, limits: CanonLimits): string {
    this.busy = true;
    this.#nodesLeft = limits.nodesMax;
    this.#bytesMax = limits.bytesMax;
    this.#anyInteger = limits.integers === 'any';
    this.#foreign = limits.foreign;
    try {
      this.#spendNodes(1);
      this.#write(value, limits.depthMax);
      if (this.#text.length > this.#bytesMax) throw FAULT;
      return this.#text.toString();
    } finally {
      this.#text.clear();
      this.busy = false;
    }
  }

  #write(value: unknown, depthLeft: number): void {
    if (typeof value === 'string') this.#writeString(value);
    else if (typeof value === 'number') this.#writeNumber(value);
    else if (typeof value === 'object') {
      if (value === null) this.#text.ascii('null');
      else this.#writeContainer(value, depthLeft);
    } else if (typeof value === 'boolean') this.#text.ascii(value ? 'true' : 'false');
    else throw FAULT;
  }

  #writeString(value: string): void {
    // An oversized string is not inspected at all.
    if (value.length > this.#bytesMax - this.#text.length || !this.#text.quoted(value)) throw FAULT;
  }

  #writeNumber(value: number): void {
    // ECMAScript's own serialisation is the canonical one (RFC 8785 section 3.2.2.3), and −0
    // becomes 0 in both branches.
    if (value >= 0 && value === (value | 0)) this.#text.digits(value);
    else if (value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER)
      this.#text.ascii('' + value);
    else if (this.#anyInteger && Number.isFinite(value)) this.#text.ascii('' + value);
    else throw FAULT;
  }

  #writeContainer(value: object, depthLeft: number): void {
    if (
      depthLeft === 0 ||
      this.#text.length > this.#bytesMax ||
      (this.#foreign && types.isProxy(value))
    )
      throw FAULT;
    if (Array.isArray(value)) this.#writeArray(value, depthLeft - 1);
    else this.#writeObject(value, depthLeft - 1);
  }

  #writeObject(value: object, depthLeft: number): void {
    const proto: unknown = getPrototypeOf(value);
    if ((proto !== Object.prototype && proto !== null) || getOwnPropertySymbols(value).length !== 0)
      throw FAULT;
    const names = getOwnPropertyNames(value);
    this.#spendNodes(names.length);
    if (names.length === 0) {
      this.#text.ascii('{}');
      return;
    }
    const order = knownOrder(names);
    if (order === undefined) this.#writeStranger(value, names, depthLeft);
    else this.#writeKnown(value, order, depthLeft);
  }

  #writeKnown(value: object, { sorted, leads }: KeyOrder, depthLeft: number): void {
    for (let i = 0; i < sorted.length; i++) {
      this.#text.append(leads[i]!);
      this.#writeMember(value, sorted[i]!, depthLeft);
    }
    this.#text.byte(0x7d);
  }

  #writeStranger(value: object, names: string[], depthLeft: number): void {
    sortKeys(names);
    for (let i = 0; i < names.length; i++) {
      this.#text.byte(i === 0 ? 0x7b : 0x2c);
      this.#writeString(names[i]!);
      this.#text.byte(0x3a);
      this.#writeMember(value, names[i]!, depthLeft);
    }
    this.#text.byte(0x7d);
  }

  #writeMember(value: object, name: string, depthLeft: number): void {
    // The descriptor and not the member: reading an accessor would run code, and the next reading
    // could differ.
    const member = getOwnPropertyDescriptor(value, name);
    // An accessor has no value, and undefined is refused.
    if (member === undefined || !member.enumerable) throw FAULT;
    this.#write(member.value, depthLeft);
  }

  #writeArray(value: readonly unknown[], depthLeft: number): void {
    if (getPrototypeOf(value) !== Array.prototype || getOwnPropertySymbols(value).length !== 0)
      throw FAULT;
    const { length } = value;
    this.#spendNodes(length);
    if (!isDense(keys(value), length)) throw FAULT;
    this.#text.byte(0x5b);
    for (let i = 0; i < length; i++) {
      if (isComputed(value, i)) throw FAULT;
      if (i !== 0) this.#text.byte(0x2c);
      this.#write(value[i], depthLeft);
    }
    this.#text.byte(0x5d);
  }

  #spendNodes(count: number): void {
    this.#nodesLeft -= count;
    if (this.#nodesLeft < 0) throw FAULT;
  }
}

const shared = new Writer();

/**
 * True if the enumerable names of an array are its indices and no others. Indices come first, so it
 * is enough to count the names and check the last.
 */
export function isDense(names: readonly string[], length: number): boolean {
  return names.length === length && (length === 0 || names[length - 1] === String(length - 1));
}
