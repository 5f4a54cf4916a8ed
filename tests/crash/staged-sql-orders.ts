/** What the process that does orders on a bank and the one that looks at what is left of them agree on. */

export const AT_ONCE = 2;
/** As a server knows its connections. */
export const BANKER = 'assize-held-bank';
export const ACCOUNTS = ['a', 'b'] as const;
/** Of each order that is done. */
export const KEYS = 4;

/** One line of what the process says. */
export type ProcessLine =
  | { readonly left: readonly { readonly epoch: number; readonly key: string }[] }
  | { readonly order: string; readonly ruling: string }
  | { readonly odd: unknown }
  | { readonly statements: number };

export function orderName(n: number): string {
  return `order-${n}`;
}

/** Each moves another one: what is there in all tells how often each order was done that is there. */
export function amountOf(n: number): number {
  return 1 + n;
}
