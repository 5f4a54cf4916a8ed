import { type Writ, writId } from './writ.ts';

/** A writ with its ancestors, the parent first. */
interface WritWithAncestors {
  readonly writ: Writ;
  readonly chain: readonly Writ[];
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
  return by.writ.parent === null && by.writ.issuer === (chain.at(-1) ?? writ).issuer && isOffice(by.writ, id);
}

/**
 * A star covers the holder's own actions and not those of others. An office must name the action
 * and a scope of writs.
 */
function isOffice({ actions = [], scopes = [] }: Writ, id: string): boolean {
  return actions.includes('assize.revoke') && [id, '*', '**'].some((which) => scopes.includes(revokeScope(which)));
}
