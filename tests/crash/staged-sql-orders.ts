/**
 * Definitions shared by the process that runs orders on a bank and the test that reads their
 * results.
 */

export const AT_ONCE = 2;
/** As a server knows its connections. */
export const BANKER = 'assize-held-bank';
export const ACCOUNTS = ['a', 'b'] as const;
/** Of each order that is done. */
export const KEYS = 4;

/** One line of the process's output. */
export type ProcessLine =
  | { readonly left: readonly { readonly epoch: number; readonly key: string }[] }
  | { readonly order: string; readonly ruling: string }
  | { readonly odd: unknown }
  | { readonly statements: number };

export function orderName(n: number): string {
  return `order-${n}`;
}

/**
 * Each order moves a different amount: the total shows how often each existing order was executed.
 */
export function amountOf(n: number): number {
  return 1 + n;
}
