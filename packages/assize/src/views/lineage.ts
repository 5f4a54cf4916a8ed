import { type EntryRow, LedgerFault, type LedgerStore } from '#ledger';
import { readable } from './entries.ts';

/** A part of one chain: its entries up to and including `seq`. */
interface Stretch {
  readonly trajectoryId: string;
  readonly seq: number;
}

/** The entries of one chain between two positions, inclusive. */
export interface Span {
  readonly trajectoryId: string;
  readonly from: number;
  readonly to: number;
}

/** The fork of two chains. `after` is their last common entry, or null. */
export interface Divergence {
  readonly after: EntryRow | null;
  /**
   * For each chain, the entries that the other lacks, along its branches. Empty for a chain that
   * ends at the fork.
   */
  readonly sides: readonly [readonly Span[], readonly Span[]];
}

/** Follows both chains back through their source branches. */
export async function divergenceOf(
  store: LedgerStore,
  a: EntryRow,
  b: EntryRow,
): Promise<Divergence> {
  const [left, right] = [await lineageOf(store, a), await lineageOf(store, b)];
  let after: Stretch | null = null;
  for (
    let depth = 0;
    left[depth] !== undefined && left[depth]?.trajectoryId === right[depth]?.trajectoryId;
    depth++
  ) {
    const [one, other] = [left[depth] as Stretch, right[depth] as Stretch];
    after = { trajectoryId: one.trajectoryId, seq: Math.min(one.seq, other.seq) };
    if (one.seq !== other.seq) break;
  }
  return {
    after: after === null ? null : await entryAt(store, after.trajectoryId, after.seq),
    sides: [spansOf(left, after), spansOf(right, after)],
  };
}

/** From the root's trajectory to the entry's trajectory. */
async function lineageOf(store: LedgerStore, { trajectory_id, seq }: EntryRow): Promise<Stretch[]> {
  const lineage: Stretch[] = [];
  for (let here: Stretch | undefined = { trajectoryId: trajectory_id, seq }; here !== undefined; ) {
    lineage.unshift(here);
    const first = readable(await entryAt(store, here.trajectoryId, 0))?.payload;
    if (
      first?.kind !== 'branch' ||
      lineage.some(({ trajectoryId }) => trajectoryId === first.source_trajectory_id)
    )
      break;
    const source = await store.resolve(first.source_commit_id);
    here = source && { trajectoryId: source.trajectory_id, seq: source.seq };
  }
  return lineage;
}

function spansOf(lineage: readonly Stretch[], after: Stretch | null): Span[] {
  const divergence = lineage.findIndex(({ trajectoryId }) => trajectoryId === after?.trajectoryId);
  const spans = lineage.slice(Math.max(0, divergence)).map(({ trajectoryId, seq }, i) => ({
    trajectoryId,
    from: divergence >= 0 && i === 0 ? (after as Stretch).seq + 1 : 0,
    to: seq,
  }));
  return spans.filter(({ from, to }) => from <= to);
}

async function entryAt(store: LedgerStore, trajectoryId: string, seq: number): Promise<EntryRow> {
  const [row] = await store.entries(trajectoryId, { from: seq, limit: 1 });
  if (row !== undefined) return row;
  throw new LedgerFault({
    code: 'broken_chain',
    trajectory_id: trajectoryId,
    seq,
    detail: 'the store has no such entry',
  });
}
