import { parseWrit, writId } from 'assize/internal/authority';
import { type Hash, type LedgerStore, type RootPayload, readRow } from 'assize/internal/ledger';
import type { BlastRadius } from '#blast';
import type { RemainingItem, ResponseStep } from '#incident-domain';
import type { AffectedTrajectories, UsedWrit } from './affected-trajectories.ts';

/** The principals that hold writs under another name than the ledger has, by the id of the writ. */
export type HoldersIn = (trajectoryId: string) => Promise<ReadonlyMap<string, string>>;

export interface Revocations {
  readonly steps: readonly Extract<ResponseStep, { kind: 'revoke' }>[];
  readonly remains: readonly RemainingItem[];
}

interface Ports {
  readonly store: LedgerStore;
  readonly trajectories: AffectedTrajectories;
  readonly holdersIn: HoldersIn;
}

/**
 * Revokes the writ of the start, or the highest writs that its principal holds: where entries of
 * the incident used them, and where a first entry lists them. Writs of other principals stay.
 */
export async function planRevocations(
  { start, entries }: BlastRadius,
  { store, trajectories, holdersIn }: Ports,
): Promise<Revocations> {
  if (start.writ === undefined && start.principal === undefined) return { steps: [], remains: [] };
  const steps = new Map<string, Revocations['steps'][number]>();
  const unbound = new Map<Hash, string>();
  const seen = new Set<string>();
  const revoke = async (used: UsedWrit, trajectoryId: string): Promise<void> => {
    if (seen.has(`${trajectoryId} ${used.id}`)) return;
    seen.add(`${trajectoryId} ${used.id}`);
    const bad = badWrit(used, start, await holdersIn(trajectoryId));
    if (bad === undefined) return;
    if (bad.writ.trajectory === undefined) unbound.set(bad.id, bad.writ.expires);
    for (const trajectory of await placesOf(bad, trajectoryId, trajectories))
      steps.set(`${trajectory} ${bad.id}`, { kind: 'revoke', trajectory, writ: bad.id });
  };
  for (const entry of entries) {
    const used = entry.isStart ? await trajectories.writOf(entry) : undefined;
    if (used !== undefined) await revoke(used, entry.trajectoryId);
  }
  for (const { trajectory_id } of await store.trajectories()) {
    const holders = await holdersIn(trajectory_id);
    const listed = await firstWrits(store, trajectory_id);
    const isBad = ({ id, writ }: BadWrit): boolean =>
      badWrit({ id, writ, chain: [] }, start, holders) !== undefined;
    if (!listed.some(isBad)) continue;
    for (const known of await trajectories.writsIn(trajectory_id))
      await revoke(known, trajectory_id);
  }
  return {
    steps: [...steps.values()],
    remains: [...[...unbound].map(unboundItem), ...principalItem(start.principal)],
  };
}

type BadWrit = Pick<UsedWrit, 'id' | 'writ'>;

/** The writs that the first entry of a trajectory lists. */
async function firstWrits(store: LedgerStore, trajectoryId: string): Promise<readonly BadWrit[]> {
  const [row] = await store.entries(trajectoryId, { from: 0, limit: 1 });
  const { writs = [] } = (row === undefined ? {} : readRow(row).payload) as Partial<RootPayload>;
  return writs.map((given) => {
    const writ = parseWrit(given);
    return { id: writId(writ) as Hash, writ };
  });
}

/** The writ of the start in a chain, or the highest one that the principal of the start holds. */
function badWrit(
  used: UsedWrit,
  start: BlastRadius['start'],
  holders: ReadonlyMap<string, string>,
): BadWrit | undefined {
  const line = lineOf(used);
  if (start.writ !== undefined) return line.find((each) => each.id === start.writ);
  const isHeld = (each: BadWrit): boolean =>
    each.writ.subject === start.principal || holders.get(each.id) === start.principal;
  return line.findLast(isHeld);
}

/** The writ and those above it, the root last. */
function lineOf({ id, writ, chain }: UsedWrit): BadWrit[] {
  return [{ id, writ }, ...chain.map((each) => ({ id: writId(each) as Hash, writ: each }))];
}

/** The trajectories that know the writ, that accept entries, and in which it counts. */
async function placesOf(
  { id, writ }: BadWrit,
  usedIn: string,
  trajectories: AffectedTrajectories,
): Promise<readonly string[]> {
  const isElsewhere = writ.trajectory !== undefined && writ.trajectory !== usedIn;
  const names = isElsewhere ? [writ.trajectory as string, usedIn] : [usedIn];
  const places: string[] = [];
  for (const name of names) {
    if (!(await trajectories.exists(name))) continue;
    const { chain } = await trajectories.replayed(name);
    const isKnown = (await trajectories.writsIn(name)).some((each) =>
      lineOf(each).some((link) => link.id === id),
    );
    const isDelegated = isElsewhere && name === usedIn && chain.delegatedFrom !== undefined;
    if (isKnown && !chain.revoked.has(id) && chain.answered === undefined && !isDelegated)
      places.push(name);
  }
  return places;
}

function unboundItem([id, expires]: readonly [Hash, string]): RemainingItem {
  return {
    what: `the writ ${id} names no trajectory`,
    why: `until ${expires} it counts in trajectories that have not used it`,
    advice: 'revoke it in each of them: assize writ revoke',
  };
}

function principalItem(principal: string | undefined): RemainingItem[] {
  if (principal === undefined) return [];
  return [
    {
      what: `the grants and credentials of ${principal}`,
      why: 'the ledger has only writs that were used, and those that a first entry lists',
      advice:
        'remove the principal from the configuration, revoke its tokens, and start the server again',
    },
  ];
}
