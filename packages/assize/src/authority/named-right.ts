import { arg, checkArgument } from '#base';
import { parseWrit, type Writ } from './writ.ts';

const LINE = arg.members({ writ: arg.object, chain: arg.list(arg.object) });

/**
 * Whether a writ and all its ancestors name the action, and a scope of that kind (`KIND:…`). A `**`
 * covers a holder's own actions, and gives no right over the work of others.
 *
 * @throws AuthorityError `bad_writ`; ArgumentError `bad_argument`
 */
export function allName(
  by: { readonly writ: Writ; readonly chain: readonly Writ[] },
  action: string,
  kind: string,
): boolean {
  checkArgument(LINE, by, 'by');
  return [by.writ, ...by.chain].every((given) => {
    const { actions = [], scopes = [] } = parseWrit(given);
    return actions.includes(action) && scopes.some((scope) => scope.startsWith(`${kind}:`));
  });
}
