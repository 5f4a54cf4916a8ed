import { form, requireForm } from '#canon';
import { type Writ, writId } from './writ.ts';

/** A writ with its ancestors, the parent first. */
interface Line {
  readonly writ: Writ;
  readonly chain: readonly Writ[];
}

const LINE = form.members({ writ: form.object, chain: form.list(form.object) });

/**
 * The resource that a writ must cover to revoke another: `writ:ID`. Of writs that are not made yet: `writ:**`.
 *
 * @throws ArgumentError `bad_argument`
 */
export function revokeScope(id: string): string {
  requireForm(form.text, id, 'id');
  return `writ:${id}`;
}

/**
 * Whether who holds `by` stands above a writ, and so may revoke it (UCAN 1.0: any issuer of the chain may): they hold one of
 * its ancestors, or a root writ of the very key that issued its root. Nobody revokes what they hold themselves, nor what
 * stands beside or above it. That `by` grants the action and the scope is for `checkWrit`.
 *
 * @throws AuthorityError `bad_writ`; ArgumentError `bad_argument`
 */
export function mayRevoke(by: Line, line: Line): boolean {
  requireForm(LINE, by, 'by');
  requireForm(LINE, line, 'line');
  const { writ, chain } = line;
  const id = writId(by.writ);
  if (id === writId(writ)) return false;
  if (chain.some((link) => writId(link) === id)) return true;
  return by.writ.parent === null && by.writ.issuer === (chain.at(-1) ?? writ).issuer;
}
