import { arg, checkArgument } from 'assize/internal/base';
import type { LedgerStore, LogStore } from 'assize/internal/ledger';
import { leafHash } from 'assize/internal/merkle';
import { RuntimeError, type VerifyOptions, verifyStore } from 'assize/internal/runtime';

/** The entries and trajectories that a checkpoint verified before it was signed. */
export interface VerifiedEntries {
  /** Number of entries since the last checkpoint. */
  readonly entries: number;
  /** Number of their trajectories. Each was replayed from its first entry. */
  readonly trajectories: number;
}

const PAGE = 1_000;
const POSITION = arg.wholeFrom(0, Number.MAX_SAFE_INTEGER);
const POSITIONS = arg.all(
  arg.known({ from: true, to: true }),
  arg.members({ from: POSITION, to: POSITION }),
);

/**
 * Verifies the entries at the log's positions from `from` to before `to`: each has the text that
 * got its position, and its trajectory verifies from the first entry.
 *
 * @throws RuntimeError `invalid_ledger` for the first fault; ArgumentError `bad_argument`
 */
export async function verifyLogged(
  store: LedgerStore & LogStore,
  positions: { readonly from: number; readonly to: number },
  options: Pick<VerifyOptions, 'entryKeys' | 'onProgress'> = {},
): Promise<VerifiedEntries> {
  const { from, to } = positions;
  const trajectoryIds = await requireLogged(store, positions);
  if (trajectoryIds.size > 0) {
    for (const { fault } of await verifyStore(store, {
      ...options,
      trajectoryIds: [...trajectoryIds],
    }))
      if (fault !== undefined)
        throw unsound(`${fault.trajectory_id} seq ${fault.seq}: ${fault.detail}`);
  }
  return { entries: Math.max(0, to - from), trajectories: trajectoryIds.size };
}

/**
 * Checks the entries at these positions without a replay: each has the text that got its position,
 * and a valid seal in a sealed store. Returns the names of their trajectories.
 *
 * @throws RuntimeError `invalid_ledger` for the first fault; ArgumentError `bad_argument`
 */
export async function requireLogged(
  store: LedgerStore & LogStore,
  positions: { readonly from: number; readonly to: number },
): Promise<ReadonlySet<string>> {
  checkArgument(POSITIONS, positions, 'positions');
  const { from, to } = positions;
  const trajectoryIds = new Set<string>();
  for (let at = from; at < to; ) {
    const limit = Math.min(PAGE, to - at);
    const [rows, leaves] = await Promise.all([
      store.logged(at, limit),
      store.logNodes(0, at, limit),
    ]);
    for (const [i, leaf] of leaves.entries()) {
      const row = rows[i];
      if (row === undefined || leaf === undefined)
        throw unsound(`position ${at + i} of the log is missing`);
      if (Buffer.compare(leaf, leafHash(row.payload)) !== 0)
        throw unsound(
          `${row.trajectory_id} seq ${row.seq} was changed after it was logged at position ${at + i}`,
        );
      if (row.unsealed !== undefined)
        throw unsound(`${row.trajectory_id} seq ${row.seq}: ${row.unsealed}`);
      trajectoryIds.add(row.trajectory_id);
    }
    at += limit;
  }
  return trajectoryIds;
}

function unsound(what: string): RuntimeError {
  return new RuntimeError(
    'invalid_ledger',
    `The checkpoint is not signed, because the entries since the last one do not verify: ${what}. Restore the entries from a backup or an export.`,
    { evidence: { what } },
  );
}
