import { type Writ, writId } from './writ.ts';

/** A writ with its ancestors, the parent first. */
interface Line {
  readonly writ: Writ;
  readonly chain: readonly Writ[];
}

/** The resource that a writ must cover to revoke another: `writ:ID`. Of writs that are not made yet: `writ:**`. */
export function revokeScope(id: string): string {
  return `writ:${id}`;
}

/**
 * Whether who holds `by` stands above a writ, and so may revoke it (UCAN 1.0: any issuer of the chain may): they hold one of
 * its ancestors, or a root writ of the very key that issued its root. Nobody revokes what they hold themselves, nor what
 * stands beside or above it. That `by` grants the action and the scope is for `checkWrit`.
 */
export function mayRevoke(by: Line, { writ, chain }: Line): boolean {
  const id = writId(by.writ);
  if (id === writId(writ)) return false;
  if (chain.some((link) => writId(link) === id)) return true;
  return by.writ.parent === null && by.writ.issuer === (chain.at(-1) ?? writ).issuer;
}
