import { segment } from './grammar.ts';
import { parseWrit, type Writ, writId } from './writ.ts';

/** A writ with its ancestors, the parent first. */
interface WritWithAncestors {
  readonly writ: Writ;
  readonly chain: readonly Writ[];
}

/**
 * Whether a writ and all its ancestors name the action, and a scope of that kind (`KIND:…`). A `**`
 * covers a holder's own actions, and gives no right over the work of others.
 *
 * @throws AuthorityError `bad_writ`
 */
function allName({ writ, chain }: WritWithAncestors, action: string, kind: string): boolean {
  return [writ, ...chain].every((given) => {
    const { actions = [], scopes = [] } = parseWrit(given);
    return actions.includes(action) && scopes.some((scope) => scope.startsWith(`${kind}:`));
  });
}

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
export function mayHalt(by: WritWithAncestors): boolean {
  return allName(by, HALT, 'halt');
}

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
export function mayResolveEffect(by: WritWithAncestors): boolean {
  return allName(by, RESOLVE_EFFECT, 'effect');
}

/**
 * The resource that a writ must cover to revoke another: `writ:ID`. For future writs: `writ:**`.
 */
export function revokeScope(id: string): string {
  return `writ:${id}`;
}

/**
 * Whether the holder of `by` may revoke a writ. The holder must hold one of its ancestors (UCAN
 * 1.0: any issuer of the chain may revoke), or an office. An office is a root writ of the same key
 * that issued the writ's root, and it grants revocation by name. No holder can revoke its own writ.
 * Without an office, no holder can revoke a sibling or an ancestor, regardless of the grants of its
 * own root. `checkWrit` checks that `by` grants the action and the scope.
 *
 * @throws AuthorityError `bad_writ`
 */
export function mayRevoke(by: WritWithAncestors, line: WritWithAncestors): boolean {
  const { writ, chain } = line;
  const [mine, id] = [writId(by.writ), writId(writ)];
  if (mine === id) return false;
  if (chain.some((link) => writId(link) === mine)) return true;
  return (
    by.writ.parent === null &&
    by.writ.issuer === (chain.at(-1) ?? writ).issuer &&
    isOffice(by.writ, id)
  );
}

/**
 * A star covers the holder's own actions and not those of others. An office must name the action
 * and a scope of writs.
 */
function isOffice({ actions = [], scopes = [] }: Writ, id: string): boolean {
  return (
    actions.includes('assize.revoke') &&
    [id, '*', '**'].some((which) => scopes.includes(revokeScope(which)))
  );
}
