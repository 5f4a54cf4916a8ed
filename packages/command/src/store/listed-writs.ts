import { type ListedWrit, listWrits } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { CliError } from '../errors.ts';
import { ambiguous, headOf, isPrefix } from './entries.ts';

/**
 * The writs of a verified trajectory.
 * @throws CliError; LedgerFault
 */
export async function writsIn(store: Store, trajectoryId: string): Promise<ListedWrit[]> {
  await headOf(store, trajectoryId);
  return listWrits(store, trajectoryId);
}

/**
 * The writ with this id prefix.
 * @throws CliError
 */
export function findWrit(
  writs: readonly ListedWrit[],
  prefix: string,
  trajectoryId: string,
): ListedWrit {
  if (!isPrefix(prefix))
    throw new CliError(
      'usage',
      `'${prefix}' is not a writ. Pass a file, or the first 8 to 64 hex digits of an id.`,
    );
  const [found, other] = writs.filter(({ id }) => id.startsWith(prefix.toLowerCase()));
  if (found === undefined)
    throw new CliError(
      'not_found',
      `The trajectory ${trajectoryId} has no writ ${prefix}. List its writs with assize writ show --in ${trajectoryId}.`,
    );
  if (other === undefined) return found;
  throw ambiguous('writ', prefix, [found.id, other.id]);
}
