import { isDeepStrictEqual } from 'node:util';
import { expect as plain } from 'vitest';

/**
 * `expect` for assertions that run many times in a case, where creating the assertion costs more
 * than the case. An assertion that plainly holds is checked here. `expect` itself decides and
 * reports everything else.
 */
export function expect(is: unknown): Quick {
  return new Quick(is);
}

class Quick {
  readonly #is: unknown;

  constructor(is: unknown) {
    this.#is = is;
  }

  toBe(shall: unknown): void {
    if (!Object.is(this.#is, shall)) plain(this.#is).toBe(shall);
  }

  toEqual(shall: unknown): void {
    if (!isDeepStrictEqual(this.#is, shall)) plain(this.#is).toEqual(shall);
  }

  toMatchObject(shall: object): void {
    if (!fits(this.#is, shall)) plain(this.#is).toMatchObject(shall);
  }

  toBeLessThanOrEqual(most: number): void {
    if (!(typeof this.#is === 'number' && this.#is <= most))
      plain(this.#is).toBeLessThanOrEqual(most);
  }

  toBeUndefined(): void {
    if (this.#is !== undefined) plain(this.#is).toBeUndefined();
  }

  toContain(one: unknown): void {
    if (!(Array.isArray(this.#is) && this.#is.includes(one))) plain(this.#is).toContain(one);
  }

  toBeGreaterThan(least: number): void {
    if (!(typeof this.#is === 'number' && this.#is > least)) plain(this.#is).toBeGreaterThan(least);
  }

  get not(): QuickNot {
    return new QuickNot(this.#is);
  }
}

class QuickNot {
  readonly #is: unknown;

  constructor(is: unknown) {
    this.#is = is;
  }

  toBeInstanceOf(type: abstract new (...args: never[]) => unknown): void {
    if (this.#is instanceof type) plain(this.#is).not.toBeInstanceOf(type);
  }

  toContain(one: unknown): void {
    if (!(Array.isArray(this.#is) && !this.#is.includes(one))) plain(this.#is).not.toContain(one);
  }

  /** Paths of several names are for `expect` to read. */
  toHaveProperty(path: string): void {
    const isAbsent =
      typeof this.#is === 'object' &&
      this.#is !== null &&
      /^\w+$/.test(path) &&
      !(path in this.#is);
    if (!isAbsent) plain(this.#is).not.toHaveProperty(path);
  }
}

/** Whether it plainly has all members of a plain object; lists have to be equal. */
function fits(is: unknown, shall: unknown): boolean {
  if (typeof shall !== 'object' || shall === null) return Object.is(is, shall);
  if (Object.getPrototypeOf(shall) !== Object.prototype) return isDeepStrictEqual(is, shall);
  if (typeof is !== 'object' || is === null || Array.isArray(is)) return false;
  return Object.keys(shall).every(
    (key) => Object.hasOwn(is, key) && fits((is as never)[key], (shall as never)[key]),
  );
}
