import { segment } from './grammar.ts';
import { allName } from './named-right.ts';
import type { Writ } from './writ.ts';

/** The action of the right to decide about effects. */
const RESOLVE_EFFECT = 'assize.resolve_effect';

/**
 * The resource that a writ must cover to decide about an effect of a tool: `effect:TOOL`. For every
 * tool: `effect:**`.
 */
export function effectScope(tool: string): string {
  return `effect:${segment(tool)}`;
}

/**
 * Whether a writ gives the right to decide about effects. The writ and all its ancestors must name
 * the action and a scope `effect:…`. So no holder of `**` declares that its own payment happened.
 * `checkWrit` checks that the writ grants the action and the scope.
 *
 * @throws AuthorityError `bad_writ`
 */
export function mayResolveEffect(by: { readonly writ: Writ; readonly chain: readonly Writ[] }): boolean {
  return allName(by, RESOLVE_EFFECT, 'effect');
}
