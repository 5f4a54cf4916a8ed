import type { EntryRow } from 'assize/internal/ledger';
import {
  type DomainActions,
  majorText,
  proposedIn,
  readable,
  shownOf,
} from 'assize/internal/views';

/**
 * Finds entries that ask for an action with an amount of at least `least`, in any currency. An
 * action without a presentation counts by a guess, and arguments that are stored apart do not.
 */
export function amountMatcher(actions: DomainActions, least: string) {
  return async (row: EntryRow): Promise<boolean> => {
    const payload = readable(row)?.payload;
    const asked = payload && proposedIn(payload);
    if (asked === undefined) return false;
    const { present } = (await actions.of(row.trajectory_id))[asked.name] ?? {};
    return shownOf(asked, present).fields.some(
      ({ amount }) => amount !== undefined && Number(majorText(amount)) >= Number(least),
    );
  };
}
