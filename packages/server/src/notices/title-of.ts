import { type EntryRow, readRow } from 'assize/internal/ledger';
import { type DomainActions, presentationOf, proposedIn, shownOf } from 'assize/internal/views';

/**
 * The title of a pending proposal, whose presentation names the arguments that may leave the
 * ledger. Undefined without a presentation, and for arguments that are stored apart.
 */
export async function titleOf(actions: DomainActions, row: EntryRow): Promise<string | undefined> {
  const asked = proposedIn(readRow(row).payload);
  if (asked === undefined) return undefined;
  const presented = (await actions.of(row.trajectory_id))[asked.name]?.present;
  return presentationOf(asked, presented)?.title && shownOf(asked, presented).title;
}
