import { segment } from './grammar.ts';
import { allName } from './named-right.ts';
import type { Writ } from './writ.ts';

/** The action of the right to halt. */
const HALT = 'assize.halt';

/**
 * The resource that a writ must cover to halt a trajectory and to resume it: `halt:TRAJECTORY`. For
 * every trajectory: `halt:**`.
 */
export function haltScope(trajectoryId: string): string {
  return `halt:${segment(trajectoryId)}`;
}

/**
 * Whether a writ gives the right to halt. The writ and all its ancestors must name the action and a
 * scope `halt:…`. A `**` covers a holder's own actions, and does not let the holder end a halt.
 * `checkWrit` checks that the writ grants the action and the scope.
 *
 * @throws AuthorityError `bad_writ`
 */
export function mayHalt(by: { readonly writ: Writ; readonly chain: readonly Writ[] }): boolean {
  return allName(by, HALT, 'halt');
}
