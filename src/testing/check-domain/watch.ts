import type { ProblemKind } from './report.ts';

/** What a function of the domain did that it may not do, seen while it ran. */
export interface Note {
  readonly kind: ProblemKind;
  readonly where: string;
  readonly sentence: string;
}

type Fn = (...given: any[]) => unknown;

/**
 * Runs the functions of a domain and takes down what they do beside answering: whether they ask a clock, chance, the
 * environment or the network, change what they are given, answer later, or throw what is no refusal.
 *
 * A refusal is an `Error`, or a class of one's own that extends it, with a message: a sentence for whoever proposed. A
 * `TypeError`, `RangeError`, `ReferenceError` and their like are what JavaScript throws where the code is wrong.
 */
export class Watch {
  #notes: Note[] = [];

  /** What was taken down since this was asked last. */
  take(): Note[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  /**
   * The function, watched. `data` is which of its arguments is plain data, to be left as it is. What an invariant throws is
   * seen in how it was judged; `refuses` are those that may throw.
   */
  over(where: string, fn: Fn, { data, refuses = false }: { data?: number | undefined; refuses?: boolean } = {}): Fn {
    const note = (kind: ProblemKind, sentence: string): void => {
      this.#notes.push({ kind, where, sentence });
    };
    return (...given) => {
      // Not frozen, so that it can be seen what is done to them; the kernel's own are.
      const mine = data === undefined ? undefined : structuredClone(given[data]);
      if (data !== undefined) given[data] = mine;
      const before = textOf(mine);
      const disarm = arm((what) => note('impure', `it uses ${what}; what it depends on has to come in as an argument`));
      try {
        const answer = fn(...given);
        if (isThenable(answer)) note('asynchronous', 'it returns a promise; it must answer at once');
        return answer;
      } catch (error) {
        if (refuses && !isRefusal(error))
          note('throws', `it throws ${named(error)}, which is no refusal for a person to read`);
        throw error;
      } finally {
        disarm();
        if (textOf(mine) !== before) note('mutates_arguments', 'it changes the arguments that it is given');
      }
    };
  }
}

/** What can't be written down is no longer what it was. */
function textOf(data: unknown): string | undefined {
  try {
    return JSON.stringify(data);
  } catch (error) {
    return String(error);
  }
}

const FAULTS = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, URIError];

export function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.message !== '' && !FAULTS.some((fault) => error instanceof fault);
}

function named(error: unknown): string {
  if (!(error instanceof Error)) return `${typeof error === 'object' ? 'an object' : JSON.stringify(error)}`;
  return error.message === '' ? `a bare ${error.name}` : `a ${error.name} (${error.message})`;
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** Puts something in the place of what a pure function does not use; answers with how to put it back. */
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

/** A date of a given time is a value like any other; the date of now is not. */
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
