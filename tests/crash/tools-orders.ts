/** What the process that does orders and the one that kills it agree on. */

export const ORDERS_AT_ONCE = 3;

/** One line of what the process says. */
export type ProcessLine =
  | { readonly left: readonly { readonly epoch: number; readonly key: string; readonly tool: string }[] }
  | { readonly order: string; readonly ruling: string }
  | { readonly closed: true };

export function orderScope(order: string): string {
  return `shop:${order}`;
}
