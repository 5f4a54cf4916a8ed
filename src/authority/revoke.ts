import { form, requireForm } from '#base';
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
 * Whether who holds `by` may revoke a writ: they hold one of its ancestors (UCAN 1.0: any issuer of the chain may), or an
 * office: a root writ of the very key that issued its root, which that key gave for it by name. Nobody revokes what they hold
 * themselves, nor, without such an office, what stands beside or above it, whatever their own root grants. That `by` grants the
 * action and the scope is for `checkWrit`.
 *
 * @throws AuthorityError `bad_writ`; ArgumentError `bad_argument`
 */
export function mayRevoke(by: Line, line: Line): boolean {
  requireForm(LINE, by, 'by');
  requireForm(LINE, line, 'line');
  const { writ, chain } = line;
  const [mine, id] = [writId(by.writ), writId(writ)];
  if (mine === id) return false;
  if (chain.some((link) => writId(link) === mine)) return true;
  return by.writ.parent === null && by.writ.issuer === (chain.at(-1) ?? writ).issuer && isOffice(by.writ, id);
}

/** A star is for what its holder does, and says nothing of others: the action is named, and that it is about writs. */
function isOffice({ actions = [], scopes = [] }: Writ, id: string): boolean {
  return actions.includes('assize.revoke') && [id, '*', '**'].some((which) => scopes.includes(revokeScope(which)));
}
