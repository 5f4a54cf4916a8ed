import { types } from 'node:util';
import { copyOf, textOf } from './copy.ts';
import { isHandle, isMarked } from './opaque.ts';
import { reachable, vandalise } from './vandal.ts';

type Code = (...args: any[]) => any;

/**
 * Stands between the library and a caller, and notes every value that the library hands out:
 * results of calls, and arguments of callbacks. The hands of a vandal also change each value, once
 * the caller has its own copy. A run with a vandal must have the same notes as a run without.
 */
export class Hands {
  readonly isVandal: boolean;
  /** The handed-out values in order: the call or the callback, and the text of the value. */
  readonly notes: string[] = [];
  /** The calls and callbacks that handed values out. */
  readonly reached: Set<string> = new Set();
  /** The classes of the objects with methods, by their names. */
  readonly classes: Map<string, unknown> = new Map();
  /** Calls that handed out one object, and the object is not frozen. */
  readonly shared: Set<string> = new Set();
  readonly #owners: WeakMap<object, string> = new WeakMap();
  /** The views of the state that callbacks received. */
  readonly #views: unknown[] = [];
  readonly #raw: WeakMap<object, object> = new WeakMap();

  constructor(isVandal: boolean) {
    this.isVandal = isVandal;
  }

  /**
   * A callback of the caller. Its arguments are changed once it has returned. `draft`: its first
   * argument may be changed while it runs, and is only changed later.
   */
  callback<Callback extends Code>(
    name: string,
    callback: Callback,
    first: 'draft' | 'data' = 'data',
  ): Callback {
    const hands = this;
    const called = function (this: unknown, ...args: unknown[]): unknown {
      hands.#note(name, args);
      const over = (): void => {
        if (hands.isVandal) vandalise(first === 'draft' ? args.slice(1) : args);
        hands.#views.push(...args.filter((arg) => types.isProxy(arg)));
      };
      let said: unknown;
      try {
        said = callback.apply(this, args);
      } finally {
        if (!(said instanceof Promise)) over();
      }
      return said instanceof Promise ? said.finally(over) : said;
    };
    return called as unknown as Callback;
  }

  /** A function of the library. */
  library<Function extends Code>(name: string, call: Function): Function {
    const noted = (...args: unknown[]): unknown =>
      this.#received(name, () => call(...args.map((arg) => this.raw(arg))));
    return noted as Function;
  }

  /** The functions that a module of the library exports. */
  module<Module extends object>(module: Module): Module {
    const functions = Object.entries(module).filter(([, exported]) => isFunction(exported));
    const noted = functions.map(
      ([name, exported]) => [name, this.library(name, exported as Code)] as const,
    );
    return { ...module, ...Object.fromEntries(noted) };
  }

  /** An object with methods that the library handed out. */
  given<Handle extends object>(handle: Handle): Handle {
    if (this.isVandal) vandalise(handle);
    return this.watched(handle);
  }

  /** An object of the library with methods that the caller made itself. */
  watched<Handle extends object>(handle: Handle, name: string = handle.constructor.name): Handle {
    this.classes.set(name, handle.constructor);
    // A proxy of the handle itself would have to return the members of a frozen handle unwatched.
    const watched = new Proxy({} as Handle, {
      get: (_, key) => {
        // Every promise asks its value for this name.
        if (key === 'then') return undefined;
        const member: unknown = Reflect.get(handle, key, handle);
        const called = `${name}.${String(key)}`;
        if (typeof member !== 'function') return this.#received(called, () => member);
        return this.library(called, (...args: unknown[]) => Reflect.apply(member, handle, args));
      },
    });
    this.#raw.set(watched, handle);
    return watched;
  }

  /** The object behind a watched handle. The library gets it back. */
  raw<T>(value: T): T;
  raw(value: unknown): unknown {
    return typeof value === 'object' && value !== null ? (this.#raw.get(value) ?? value) : value;
  }

  /** Changes the state through every view that a callback has kept. */
  useKeptViews(): void {
    const views = this.#views.splice(0);
    if (this.isVandal) for (const view of views) vandalise(view);
  }

  /** The first note that differs from the notes of another run, with the other note. */
  firstDifference({
    notes,
  }: Hands): { readonly at: number; readonly here: unknown; readonly there: unknown } | undefined {
    for (let at = 0; at < Math.max(notes.length, this.notes.length); at++)
      if (notes[at] !== this.notes[at]) return { at, here: this.notes[at], there: notes[at] };
    return undefined;
  }

  #received(name: string, call: () => unknown): unknown {
    let given: unknown;
    try {
      given = call();
    } catch (error) {
      throw this.#taken(name, error);
    }
    if (!(given instanceof Promise)) return this.#taken(name, given);
    return given.then(
      (value) => this.#taken(name, value),
      (error: unknown) => {
        throw this.#taken(name, error);
      },
    );
  }

  /** The caller's own copy of a value. */
  #taken(name: string, value: unknown): unknown {
    if (isGenerator(value)) return this.#each(name, value);
    this.#note(name, value);
    if (typeof value !== 'object' || value === null) return value;
    if (isHandle(value)) return this.given(value);
    const copy = copyOf(value);
    if (this.isVandal) vandalise(value);
    return copy;
  }

  async *#each(name: string, values: AsyncGenerator<unknown>): AsyncGenerator<unknown> {
    for await (const value of values) yield this.#taken(name, value);
  }

  #note(name: string, value: unknown): void {
    this.reached.add(name);
    this.notes.push(`${name} ${textOf(value)}`);
    for (const object of reachable(value)) {
      if (Object.isFrozen(object) || isHandle(object) || isMarked(object) || types.isProxy(object))
        continue;
      const owner = this.#owners.get(object);
      if (owner !== undefined) this.shared.add(`${owner} and ${name}`);
      this.#owners.set(object, name);
    }
  }
}

export function isFunction(value: unknown): value is Code {
  return (
    typeof value === 'function' && !Function.prototype.toString.call(value).startsWith('class')
  );
}

function isGenerator(value: unknown): value is AsyncGenerator<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
