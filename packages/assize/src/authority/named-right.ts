import { parseWrit, type Writ } from './writ.ts';

/**
 * Whether a writ and all its ancestors name the action, and a scope of that kind (`KIND:…`). A `**`
 * covers a holder's own actions, and gives no right over the work of others.
 *
 * @throws AuthorityError `bad_writ`
 */
export function allName(
  by: { readonly writ: Writ; readonly chain: readonly Writ[] },
  action: string,
  kind: string,
): boolean {
  return [by.writ, ...by.chain].every((given) => {
    const { actions = [], scopes = [] } = parseWrit(given);
    return actions.includes(action) && scopes.some((scope) => scope.startsWith(`${kind}:`));
  });
}
