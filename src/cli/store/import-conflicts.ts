import { ExportError, type LedgerStore } from '#ledger';

/**
 * Refuses an import into a store that has other entries at the same places. Each entry names the
 * one before it, so the last common place decides for a whole trajectory.
 *
 * @throws ExportError `import_conflict`, before anything is written
 */
export async function refuseConflicts(from: LedgerStore, into: LedgerStore): Promise<void> {
  for (const { trajectory_id } of await from.trajectories()) {
    const [ours, theirs] = await Promise.all([into.head(trajectory_id), from.head(trajectory_id)]);
    if (ours === undefined || theirs === undefined) continue;
    const seq = Math.min(ours.seq, theirs.seq);
    const [here, there] = await Promise.all(
      [into, from].map(async (store) => (await store.entries(trajectory_id, { from: seq, limit: 1 }))[0]),
    );
    if (here?.id !== there?.id)
      throw new ExportError(
        'import_conflict',
        `The store has another entry at ${trajectory_id} seq ${seq}. Nothing was imported. Import into a separate store.`,
        { evidence: { trajectory_id, seq } },
      );
  }
}
