import { arg, checkArgument } from 'assize/internal/base';
import type { Coverage, UdtState } from './schema.ts';

/** The middle tier. Agentic Redux leaves it open. */
export const MIDDLE_TIER: Coverage = { tests: 3, days: 30 };

/**
 * A clinic without patients. The middle tier's row can be set.
 *
 * @throws ArgumentError `bad_argument`
 */
export function udtInitial(options: { readonly middle?: Coverage } = {}): UdtState {
  checkArgument(arg.object, options, 'options');
  const { middle = MIDDLE_TIER } = options;
  return {
    coverage: { '0-30': { tests: 1, days: 7 }, '31-89': middle, '90+': { tests: 3, days: 90 } },
    events: {},
    patients: {},
    orders: {},
    tests: {},
    claims: {},
    relapses: {},
  };
}
