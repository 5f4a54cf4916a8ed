import { arg, checkArgument } from 'assize/internal/base';
import { INCIDENTS } from 'assize/internal/config';
import type { LedgerStore, LogStore } from 'assize/internal/ledger';
import type { AffectedEntry } from 'assize/internal/runtime';
import { blastRadius, type IncidentStart } from '#blast';
import type { Incident } from '#incident-domain';

const INCIDENT = arg.members({ start: arg.object, openedAt: arg.text });

/**
 * The entries that derive from the start of an incident, by any derivation, and that are later than
 * its opening: the plan knows none of them. Reads every entry. The trajectory of incidents itself
 * does not count.
 *
 * @throws the errors of `blastRadius`; ArgumentError `bad_argument`
 */
export async function affectedSince(
  store: LedgerStore & LogStore,
  incident: Pick<Incident, 'start' | 'openedAt'>,
  trajectoryId: string = INCIDENTS,
): Promise<readonly AffectedEntry[]> {
  checkArgument(INCIDENT, incident, 'incident');
  checkArgument(arg.text, trajectoryId, 'trajectoryId');
  const { start, openedAt } = incident;
  const { entries } = await blastRadius(store, start as IncidentStart);
  return entries.filter(({ at, trajectoryId: place }) => at > openedAt && place !== trajectoryId);
}
