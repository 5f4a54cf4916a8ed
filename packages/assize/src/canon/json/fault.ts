import { types } from 'node:util';
import { isInstance } from '#base';
import { CanonError } from './canon-error.ts';
import type { CanonLimits } from './limits.ts';
import { escapeSegment } from './pointer.ts';

/**
 * The value that a fast walk throws for any fault: one shared value without a stack or a message.
 */
export const FAULT: unique symbol = Symbol('fault');

/**
 * The error for a value that a fast walk refused, with the place of the fault.
 * @param thrown The value that ended the fast walk: `FAULT`, or an error from a Proxy's trap.
 */
export function explain(value: unknown, limits: CanonLimits, thrown: unknown): unknown {
  const fault = findFault(value, limits);
  if (fault !== undefined) return fault;
  if (thrown !== FAULT) return thrown;
  return new CanonError(
    'not_json',
    '',
    'The value changed while it was read. Pass a value that does not change.',
  );
}

/**
 * The first fault of a value, in the order of its own members. Undefined if it has a canonical
 * text.
 */
function findFault(value: unknown, limits: CanonLimits): CanonError | undefined {
  try {
    new FaultWalk(limits).visit(value);
    return undefined;
  } catch (error) {
    if (isInstance(error, CanonError)) return error;
    throw error;
  }
}

/**
 * The rules of the fast walks again, to find the first fault. It tracks the path and counts bytes
 * exactly.
 */
class FaultWalk {
  readonly #limits: CanonLimits;
  readonly #ancestors: object[] = [];
  #pointer = '';
  #nodes = 0;
  #bytes = 0;

  constructor(limits: CanonLimits) {
    this.#limits = limits;
  }

  visit(value: unknown): void {
    this.#nodes += 1;
    if (this.#nodes > this.#limits.nodesMax) {
      this.#failLimit(
        'too_complex',
        `The value has more than ${this.#limits.nodesMax} nodes. Pass a smaller value, or raise nodesMax.`,
      );
    }
    switch (typeof value) {
      case 'string':
        this.#visitString(value);
        break;
      case 'number':
        this.#visitNumber(value);
        break;
      case 'boolean':
        this.#spend(value ? 4 : 5);
        break;
      case 'object':
        if (value === null) this.#spend(4);
        else this.#visitContainer(value);
        break;
      default:
        this.#failType(value);
    }
  }

  #failType(value: unknown): never {
    const type = typeof value;
    if (type === 'undefined') this.#fail('JSON has no undefined. Omit the field, or write null.');
    if (type === 'bigint')
      this.#fail('JSON has no bigint. Write a decimal string or a safe integer.');
    if (type === 'symbol') this.#fail('A symbol cannot be written as JSON. Write a string.');
    this.#fail('A function cannot be written as JSON. Omit the field.');
  }

  #visitString(value: string): void {
    if (!value.isWellFormed()) {
      this.#fail(
        'The string has a lone surrogate, which has no UTF-8 bytes. Repair the string first.',
      );
    }
    // Quoting can only lengthen the text, so an oversized text is not quoted.
    this.#spend(
      value.length > this.#limits.bytesMax
        ? value.length
        : Buffer.byteLength(JSON.stringify(value)),
    );
  }

  #visitNumber(value: number): void {
    if (!Number.isFinite(value)) {
      this.#fail('JSON has no NaN and no infinity. Use null or a string.', {
        value: String(value),
      });
    }
    if (this.#limits.integers === 'safe' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      this.#fail(
        'The integer is beyond 2^53-1, and readers would round it. Write a decimal string.',
        {
          value: String(value),
        },
      );
    }
    this.#spend(String(value).length);
  }

  #visitContainer(value: object): void {
    if (this.#limits.foreign && types.isProxy(value)) {
      this.#fail('A Proxy can return a different value on each read. Pass a plain copy.');
    }
    if (this.#ancestors.includes(value))
      this.#fail('The value contains itself. Pass a value without cycles.');
    if (this.#ancestors.length >= this.#limits.depthMax) {
      this.#failLimit(
        'too_complex',
        `The value is nested more than ${this.#limits.depthMax} deep. Flatten it, or raise depthMax.`,
      );
    }
    this.#ancestors.push(value);
    this.#spend(2);
    if (this.#read(() => Array.isArray(value))) this.#visitArray(value as readonly unknown[]);
    else this.#visitObject(value);
    this.#ancestors.pop();
  }

  #visitArray(value: readonly unknown[]): void {
    this.#requirePrototype(value, Array.prototype, false);
    const length = this.#read(() => value.length);
    for (let i = 0; i < length; i++) {
      this.#spend(i === 0 ? 0 : 1);
      const item = this.#descriptor(value, String(i));
      if (item === undefined) {
        this.#inside(String(i), () => this.#fail('The array has a hole. Write null there.'));
      } else this.#visitMember(String(i), item);
    }
    for (const key of this.#ownKeys(value)) {
      if (typeof key === 'symbol') this.#failSymbolKey(key);
      // Members that are not enumerable belong to the array itself, like its length. No copy of an
      // array has them.
      else if (!isIndex(key, length) && this.#descriptor(value, key)?.enumerable === true) {
        this.#inside(key, () =>
          this.#fail('The array has a named field, which JSON would drop. Remove the field.'),
        );
      }
    }
  }

  #visitObject(value: object): void {
    const keys = this.#ownKeys(value);
    const toJson = keys.includes('toJSON') ? this.#descriptor(value, 'toJSON') : undefined;
    if (typeof toJson?.value === 'function') {
      this.#fail('The object has a toJSON method. Call it, and pass the result.');
    }
    this.#requirePrototype(value, Object.prototype, true);
    this.#spend(Math.max(0, keys.length - 1));
    for (const key of keys) {
      if (typeof key === 'symbol') this.#failSymbolKey(key);
      else this.#visitNamed(value, key);
    }
  }

  #visitNamed(value: object, key: string): void {
    if (!key.isWellFormed()) {
      this.#inside(key.toWellFormed(), () =>
        this.#fail(
          'The name has a lone surrogate, which has no UTF-8 bytes. Repair the string first.',
          {
            name: JSON.stringify(key),
          },
        ),
      );
    }
    this.#spend(Buffer.byteLength(JSON.stringify(key)) + 1);
    const member = this.#descriptor(value, key);
    // The member was listed and is now missing: the caller reports that the value changes while it
    // is read.
    if (member !== undefined) this.#visitMember(key, member);
  }

  #visitMember(key: string, member: PropertyDescriptor): void {
    this.#inside(key, () => {
      if (member.get !== undefined || member.set !== undefined || !('value' in member)) {
        this.#fail('The field is an accessor. Pass its value.');
      }
      if (member.enumerable !== true) {
        this.#fail('The field is not enumerable, so JSON would drop it. Make it a plain field.');
      }
      this.visit(member.value);
    });
  }

  #requirePrototype(value: object, wanted: object, orNull: boolean): void {
    const proto: unknown = this.#read(() => Object.getPrototypeOf(value));
    if (proto === wanted || (orNull && proto === null)) return;
    this.#fail(
      'Only plain objects and arrays can be written. Convert the instance to a plain object.',
      {
        class: className(proto),
      },
    );
  }

  #failSymbolKey(key: symbol): never {
    this.#fail('A field with a symbol as its name would be dropped. Use a string as its name.', {
      name: String(key),
    });
  }

  #descriptor(value: object, key: string): PropertyDescriptor | undefined {
    return this.#read(() => Object.getOwnPropertyDescriptor(value, key));
  }

  #ownKeys(value: object): readonly (string | symbol)[] {
    return this.#read(() => Reflect.ownKeys(value));
  }

  /** A Proxy answers by running code that may throw. */
  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (cause) {
      throw new CanonError(
        'not_json',
        this.#pointer,
        'The value threw an error while it was read. See the cause.',
        {
          cause,
        },
      );
    }
  }

  #inside(segment: string, visit: () => void): void {
    const outer = this.#pointer;
    this.#pointer = outer + '/' + escapeSegment(segment);
    visit();
    this.#pointer = outer;
  }

  #spend(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.bytesMax) {
      this.#failLimit(
        'too_large',
        `The text exceeds ${this.#limits.bytesMax} bytes here. Pass less, or raise bytesMax.`,
      );
    }
  }

  #failLimit(code: 'too_large' | 'too_complex', message: string): never {
    throw new CanonError(code, this.#pointer, message);
  }

  #fail(message: string, evidence: Readonly<Record<string, unknown>> = {}): never {
    throw new CanonError('not_json', this.#pointer, message, { evidence });
  }
}

function isIndex(key: string, length: number): boolean {
  const index = Number(key);
  return String(index) === key && Number.isInteger(index) && index >= 0 && index < length;
}

/** The class's name, found without running code of the value. */
function className(proto: unknown): string {
  if (proto === null || typeof proto !== 'object' || types.isProxy(proto)) return '';
  const maker: unknown = Object.getOwnPropertyDescriptor(proto, 'constructor')?.value;
  if (typeof maker !== 'function' || types.isProxy(maker)) return '';
  const name: unknown = Object.getOwnPropertyDescriptor(maker, 'name')?.value;
  return typeof name === 'string' ? name : '';
}
