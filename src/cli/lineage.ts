import type { EntryRow, LedgerStore } from 'assize';
import { entryAt, readable } from './entries.ts';

/** A stretch of one chain: its entries up to and with `seq` count. */
interface Stretch {
  readonly trajectoryId: string;
  readonly seq: number;
}

/** Where two chains part. `after` is the last entry that both have, null when they have none. */
export interface Parting {
  readonly after: EntryRow | null;
  /** The first entry of each that the other does not have: trajectory and seq; null for one that ends there. */
  readonly first: readonly [Stretch | null, Stretch | null];
}

/** Follows both back through the branches that they come from. */
export async function partingOf(store: LedgerStore, a: EntryRow, b: EntryRow): Promise<Parting> {
  const [left, right] = [await lineageOf(store, a), await lineageOf(store, b)];
  let after: Stretch | null = null;
  let depth = 0;
  for (; left[depth] !== undefined && left[depth]?.trajectoryId === right[depth]?.trajectoryId; depth++) {
    const [one, other] = [left[depth] as Stretch, right[depth] as Stretch];
    after = { trajectoryId: one.trajectoryId, seq: Math.min(one.seq, other.seq) };
    if (one.seq !== other.seq) break;
  }
  return {
    after: after === null ? null : await entryAt(store, after.trajectoryId, after.seq),
    first: [nextOf(left, depth, after), nextOf(right, depth, after)],
  };
}

/** From the root's trajectory to the one of the entry. */
async function lineageOf(store: LedgerStore, { trajectory_id, seq }: EntryRow): Promise<Stretch[]> {
  const lineage: Stretch[] = [];
  for (let here: Stretch | undefined = { trajectoryId: trajectory_id, seq }; here !== undefined; ) {
    lineage.unshift(here);
    const first = readable(await entryAt(store, here.trajectoryId, 0))?.payload;
    if (first?.kind !== 'branch' || lineage.some(({ trajectoryId }) => trajectoryId === first.source_trajectory_id))
      break;
    const source = await store.resolve(first.source_commit_id);
    here = source && { trajectoryId: source.trajectory_id, seq: source.seq };
  }
  return lineage;
}

function nextOf(lineage: readonly Stretch[], depth: number, after: Stretch | null): Stretch | null {
  const here = lineage[depth];
  if (here === undefined) return null;
  if (here.trajectoryId !== after?.trajectoryId) return { ...here, seq: 0 };
  if (here.seq > after.seq) return { ...here, seq: after.seq + 1 };
  const next = lineage[depth + 1];
  return next === undefined ? null : { ...next, seq: 0 };
}
