import type { Process, Role } from 'assize/internal/kernel';

/**
 * The footprint of each tool, always of one user. No tool changes an order's owner, its items'
 * products, the shop's products, or data of another user. Event rows can be added, never rewritten.
 */
export const processes = {
  cancellation: {
    reads: ['/users/{user}', '/orders/{user}'],
    writes: [
      '/orders/{user}/*/status',
      '/orders/{user}/*/cancel_reason',
      '/orders/{user}/*/payment_history/-',
      '/users/{user}/payment_methods/*/balance',
      '/events/{user}/*/-',
    ],
  },
  readdressing: {
    reads: ['/orders/{user}'],
    writes: ['/orders/{user}/*/address', '/events/{user}/*/-'],
  },
  repayment: {
    reads: ['/users/{user}', '/orders/{user}'],
    writes: [
      '/orders/{user}/*/payment_history/-',
      '/users/{user}/payment_methods/*/balance',
      '/events/{user}/*/-',
    ],
  },
  modification: {
    reads: ['/users/{user}', '/products', '/orders/{user}'],
    writes: [
      '/orders/{user}/*/status',
      '/orders/{user}/*/items',
      '/orders/{user}/*/payment_history/-',
      '/users/{user}/payment_methods/*/balance',
      '/events/{user}/*/-',
    ],
  },
  exchange: {
    reads: ['/users/{user}', '/products', '/orders/{user}'],
    writes: [
      '/orders/{user}/*/status',
      '/orders/{user}/*/exchange_items',
      '/orders/{user}/*/exchange_new_items',
      '/orders/{user}/*/exchange_payment_method_id',
      '/orders/{user}/*/exchange_price_difference',
      '/events/{user}/*/-',
    ],
  },
  return: {
    reads: ['/users/{user}', '/orders/{user}'],
    writes: [
      '/orders/{user}/*/status',
      '/orders/{user}/*/return_items',
      '/orders/{user}/*/return_payment_method_id',
      '/events/{user}/*/-',
    ],
  },
  profile: {
    reads: ['/users/{user}'],
    writes: ['/users/{user}/address'],
  },
} as const satisfies Record<string, Process>;

export type ProcessName = keyof typeof processes;

/**
 * An agent serves one user: the parameter is the authenticated user, and the agent's writ names no
 * other.
 */
export const roles = {
  agent: { params: ['user'], processes: Object.keys(processes) as ProcessName[] },
} as const satisfies Record<string, Role>;
