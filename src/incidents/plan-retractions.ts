import type { ResponseStep } from '#domains/incident';
import { type FactStore, type FactVersion, OPEN_END, type PartitionName } from '#ledger';
import type { BlastRadius } from '#runtime';
import type { AffectedTrajectories } from './affected-trajectories.ts';

export type Retraction = Extract<ResponseStep, { kind: 'retract' }>;

/** The characters of an object that the approver of a plan reads. */
const OBJECT_SHOWN_MAX = 500;

/** Retracts each affected fact that is believed, in a trajectory whose domain declares it. */
export async function planRetractions(
  { facts, entries }: BlastRadius,
  trajectories: AffectedTrajectories,
): Promise<readonly Retraction[]> {
  const places = new Map(entries.map(({ id, trajectoryId }) => [id, trajectoryId]));
  const steps = new Map<string, Retraction>();
  for (const { entry, space, branch, subject, predicate, object, factId } of facts) {
    const trajectory = branch ?? (await openAbove(places.get(entry) as string, trajectories));
    steps.set(JSON.stringify([factId, entry, branch]), {
      ...{ kind: 'retract', trajectory, space, subject, predicate },
      ...(branch !== undefined && { branch }),
      ...{ object: object.slice(0, OBJECT_SHOWN_MAX).toWellFormed(), fact: factId, entry },
    });
  }
  return [...steps.values()];
}

/** A delegated trajectory that has answered accepts no entry, so its delegator states it. */
async function openAbove(id: string, trajectories: AffectedTrajectories): Promise<string> {
  const { answered, delegatedFrom } = (await trajectories.replayed(id)).chain;
  return answered === undefined || delegatedFrom === undefined
    ? id
    : openAbove(delegatedFrom.trajectory_id, trajectories);
}

const PAGE = 1_000;

/** The believed rows of a fact that rest on a statement of the entry. */
export async function believedRows(
  store: Pick<FactStore, 'facts'>,
  { space, branch, subject, predicate, fact, entry }: Retraction,
): Promise<readonly FactVersion[]> {
  const name: PartitionName = { space, subject, predicate, ...(branch !== undefined && { branch }) };
  const found: FactVersion[] = [];
  for (let after: FactVersion | undefined; ; ) {
    const rows = await store.facts({ ...name, kind: 'current', system: 'now', ...(after !== undefined && { after }) });
    found.push(...rows.filter((row) => row.fact_id === fact && row.system_time_end === OPEN_END && isOn(row, entry)));
    after = rows.at(-1);
    if (rows.length < PAGE) return found;
  }
}

function isOn({ provenance_id }: FactVersion, entry: string): boolean {
  return provenance_id.includes(`w:${entry}#`);
}
