import { isInstance } from 'assize/internal/base';
import type { ProblemKind } from './report.ts';

/** A forbidden operation of a domain function, recorded during its run. */
export interface ForbiddenAct {
  readonly kind: ProblemKind;
  readonly where: string;
  readonly sentence: string;
}

type Fn = (...given: any[]) => unknown;

/**
 * Runs the functions of a domain and records forbidden operations. These are the use of a clock,
 * randomness, the environment or the network, changed arguments, late answers, and errors that are
 * not refusals.
 *
 * A refusal is an `Error`, or an instance of the domain's own subclass, with a readable message for
 * the requester. JavaScript throws `TypeError`, `RangeError`, `ReferenceError` and the like for
 * faulty code.
 */
export class Watch {
  #notes: ForbiddenAct[] = [];

  /** The notes since the last call. */
  take(): ForbiddenAct[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  /**
   * The watched function. `data`: the index of the argument that is plain data and must stay
   * unchanged. Errors of invariants show in their results; `refuses` marks functions that may
   * throw.
   */
  over(
    where: string,
    fn: Fn,
    { data, refuses = false }: { data?: number | undefined; refuses?: boolean } = {},
  ): Fn {
    const note = (kind: ProblemKind, sentence: string): void => {
      this.#notes.push({ kind, where, sentence });
    };
    return (...given) => {
      // Not frozen, so that changes show; the kernel's own values are frozen.
      const mine = data === undefined ? undefined : structuredClone(given[data]);
      if (data !== undefined) given[data] = mine;
      const before = textOf(mine);
      const disarm = arm((what) =>
        note('impure', `it uses ${what}; pass the value as an argument instead`),
      );
      try {
        const answer = fn(...given);
        if (isThenable(answer))
          note('asynchronous', 'it returns a promise; it must be synchronous');
        return answer;
      } catch (error) {
        if (refuses && !isRefusal(error))
          note('throws', `it throws ${named(error)}, which is not a readable refusal`);
        throw error;
      } finally {
        disarm();
        if (textOf(mine) !== before) note('mutates_arguments', 'it changes its arguments');
      }
    };
  }
}

/** A value that cannot be serialised has changed. */
function textOf(data: unknown): string | undefined {
  try {
    return JSON.stringify(data);
  } catch (error) {
    return String(error);
  }
}

const FAULTS = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, URIError];

export function isRefusal(error: unknown): boolean {
  return (
    isInstance(error, Error) &&
    error.message !== '' &&
    !FAULTS.some((fault) => isInstance(error, fault))
  );
}

function named(error: unknown): string {
  if (!isInstance(error, Error))
    return `${typeof error === 'object' ? 'an object' : JSON.stringify(error)}`;
  return error.message === '' ? `a bare ${error.name}` : `a ${error.name} (${error.message})`;
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/**
 * Replaces the globals that a pure function does not use, and returns a function that restores
 * them.
 */
function arm(used: (what: string) => void): () => void {
  const undo = [
    exchanged(globalThis, 'Date', (real) => datesOf(real as DateConstructor, used)),
    ...CALLS.map(([object, name, what]) =>
      exchanged(object, name, (real) => (...given: unknown[]) => {
        used(what);
        return (real as Fn).apply(object, given);
      }),
    ),
    exchanged(process, 'env', (real) => environment(real as object, used)),
  ];
  return () => {
    for (const put of undo) put();
  };
}

const CALLS: readonly (readonly [object, string, string])[] = [
  [Math, 'random', 'Math.random'],
  [performance, 'now', 'performance.now'],
  [process, 'hrtime', 'process.hrtime'],
  [crypto, 'randomUUID', 'crypto.randomUUID'],
  [crypto, 'getRandomValues', 'crypto.getRandomValues'],
  [globalThis, 'fetch', 'fetch'],
  [globalThis, 'setTimeout', 'setTimeout'],
  [globalThis, 'setInterval', 'setInterval'],
  [globalThis, 'setImmediate', 'setImmediate'],
  [globalThis, 'queueMicrotask', 'queueMicrotask'],
];

/** A date of a given time is an ordinary value; the current date is not. */
function datesOf(real: DateConstructor, used: (what: string) => void): DateConstructor {
  return new Proxy(real, {
    get: (target, name) => {
      if (name === 'now') used('Date.now');
      return Reflect.get(target, name);
    },
    construct: (target, given) => {
      if (given.length === 0) used('new Date()');
      return Reflect.construct(target, given);
    },
    apply: (target) => {
      used('Date()');
      return target();
    },
  });
}

function environment(real: object, used: (what: string) => void): object {
  return new Proxy(real, {
    get: (target, name) => {
      used(`the environment variable ${String(name)}`);
      return Reflect.get(target, name);
    },
  });
}

function exchanged(object: object, name: string, instead: (real: unknown) => unknown): () => void {
  const own = Object.getOwnPropertyDescriptor(object, name);
  const value = instead(Reflect.get(object, name));
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
  return () => {
    if (own === undefined) Reflect.deleteProperty(object, name);
    else Object.defineProperty(object, name, own);
  };
}
