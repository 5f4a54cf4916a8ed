/**
 * Definitions shared by the process that runs random orders on a server's tables, and the test that
 * kills it and reads the tables.
 */
import { seededNumbers } from '../../packages/testing/src/faults.ts';

export const AT_ONCE = 4;
export const ACCOUNTS = ['a', 'b', 'c'] as const;
/** The initial balance of each account. A balance cannot go below zero. */
export const BEGINNING = 1_000;
const TOO_MUCH = 100_000;
/**
 * Rows that no tool declares in its scopes. Transactions conflict there in the database alone, and
 * can deadlock.
 */
export const SHARED = ['x', 'y'] as const;

/** The steps of an order, in sequence. `row`: its unique name in the tables. */
export type Op =
  /** Held: an account, a note, a number by the server's sequence, a shared row. */
  | {
      readonly do: 'move';
      readonly row: string;
      readonly account: string;
      readonly by: number;
      readonly isSeen: boolean;
    }
  | { readonly do: 'note' | 'number'; readonly row: string }
  | { readonly do: 'share'; readonly row: string; readonly at: string }
  /** Refused by the database, for good, as a row of that name may not be; the body goes on. */
  | { readonly do: 'bad'; readonly row: string }
  /** Executed immediately, and undone without a commit. */
  | { readonly do: 'put'; readonly row: string }
  /** After the commit, in a database that is not held; a row that may not be is refused there. */
  | { readonly do: 'post'; readonly row: string }
  | { readonly do: 'look' }
  | { readonly do: 'pause'; readonly ms: number }
  /** The first branch that has not failed is gone on with. */
  | { readonly do: 'speculate'; readonly branches: readonly (readonly Op[])[] }
  | { readonly do: 'throw' };

export interface Order {
  readonly name: string;
  readonly ops: readonly Op[];
  /**
   * `late`: a call that the body does not await. `order`: effects are compensated if one of them
   * fails permanently.
   */
  readonly ends: 'count' | 'order' | 'reject' | 'throw' | 'late';
  /** It is given up after so long, if it is. */
  readonly givenUpMs: number | undefined;
}

/** The order of a number: the same in each process, and in each life. */
export function orderOf(seed: number, n: number): Order {
  const next = seededNumbers(seed * 100_003 + n * 7_919);
  let rows = 0;
  const one = <T>(of: readonly T[]): T => of[next(of.length)]!;
  const several = (depth: number, most: number): Op[] =>
    Array.from({ length: 1 + next(most) }, () => op(depth));
  const op = (depth: number): Op => {
    const row = `${rows++}`;
    const which = next(100);
    if (which < 26)
      return { do: 'move', row, account: one(ACCOUNTS), by: next(21) - 10, isSeen: true };
    if (which < 29)
      return { do: 'move', row, account: one(ACCOUNTS), by: -TOO_MUCH, isSeen: next(3) > 0 };
    if (which < 41) return { do: 'note', row };
    if (which < 46) return { do: 'number', row };
    if (which < 53) return { do: 'share', row, at: one(SHARED) };
    if (which < 56) return { do: 'bad', row };
    if (which < 68) return { do: 'put', row };
    if (which < 75) return { do: 'post', row: next(4) === 0 ? `bad${row}` : row };
    if (which < 82) return { do: 'look' };
    if (which < 88) return { do: 'pause', ms: next(25) };
    if (which < 90) return { do: 'throw' };
    if (depth === 2) return { do: 'note', row };
    return {
      do: 'speculate',
      branches: Array.from({ length: 1 + next(3) }, () => several(depth + 1, 3)),
    };
  };
  const ops = several(0, 7);
  const ends = one([
    'count',
    'count',
    'count',
    'count',
    'order',
    'order',
    'order',
    'reject',
    'throw',
    'late',
  ] as const);
  return { name: `order-${n}`, ops, ends, givenUpMs: next(10) === 0 ? 1 + next(60) : undefined };
}

/** The rows that must exist according to the commit of an order, by table. */
export interface ExpectedRows {
  readonly name: string;
  readonly rows: readonly string[];
}

/** An unresolved effect, with the name of its transaction. */
export interface UnresolvedTransaction {
  readonly epoch: number;
  readonly n: number;
  readonly key: string;
  readonly tool: string;
  readonly why: string | undefined;
  readonly name: string;
}

/** One line of the process's output. */
export type ProcessLine =
  | { readonly left: readonly UnresolvedTransaction[] }
  | { readonly order: string; readonly ruling: string; readonly effects: string }
  | { readonly order: string; readonly threw: string }
  | { readonly closed: true };
