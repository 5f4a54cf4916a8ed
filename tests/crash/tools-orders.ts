/** Definitions shared by the process that runs orders and the test that kills it. */

export const ORDERS_AT_ONCE = 3;

/** One line of the process's output. */
export type ProcessLine =
  | {
      readonly left: readonly {
        readonly epoch: number;
        readonly key: string;
        readonly tool: string;
      }[];
    }
  | { readonly order: string; readonly ruling: string }
  | { readonly closed: true };

export function orderScope(order: string): string {
  return `shop:${order}`;
}
