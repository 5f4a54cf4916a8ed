import { checkRow, type Entry, type Hash, LedgerFault, type RuleId } from 'assize/internal/ledger';
import { RuntimeError } from 'assize/internal/runtime';
import type { DeepReplaySource } from './options.ts';

/** Entries of one trajectory from its first one on. */
export interface LineageSegment {
  readonly trajectoryId: string;
  readonly entries: number;
  /** The entry that the next stretch branches from; undefined for the last stretch. */
  readonly until?: Hash;
}

/**
 * A trajectory as it is now, after its sources, the root's trajectory first.
 *
 * @throws RuntimeError `not_found`; LedgerFault
 */
export async function lineageOf(
  store: DeepReplaySource,
  trajectoryId: string,
  sources: boolean,
): Promise<LineageSegment[]> {
  const head = await store.head(trajectoryId);
  if (head === undefined) {
    throw new RuntimeError('not_found', `The store has no trajectory ${trajectoryId}.`);
  }
  const lineage: LineageSegment[] = [{ trajectoryId, entries: head.seq + 1 }];
  while (sources) {
    const first = await firstEntry(store, (lineage[0] as LineageSegment).trajectoryId);
    if (first.payload.kind !== 'branch') break;
    const { source_trajectory_id: source, source_commit_id: until } = first.payload;
    // Honest ids cannot form a cycle; a changed first entry can, and would loop forever.
    if (lineage.some((stretch) => stretch.trajectoryId === source))
      throw missing(first, 'branch.cycle', `${source} would branch from itself`);
    lineage.unshift({
      trajectoryId: source,
      entries: await placeOf(store, first, source, until),
      until,
    });
  }
  return lineage;
}

async function firstEntry(store: DeepReplaySource, trajectoryId: string): Promise<Entry> {
  const [row] = await store.entries(trajectoryId, { from: 0, limit: 1 });
  if (row !== undefined) return checkRow(row);
  throw new LedgerFault({
    trajectory_id: trajectoryId,
    seq: 0,
    code: 'not_found',
    detail: 'the trajectory has no entries',
  });
}

/** The number of entries up to the branch entry of a source. */
async function placeOf(
  store: DeepReplaySource,
  branch: Entry,
  source: string,
  until: Hash,
): Promise<number> {
  const row = await store.resolve(until);
  if (row === undefined || row.trajectory_id !== source)
    throw missing(branch, 'branch.source', `${source} has no entry ${until} to branch from`);
  const { payload, kind } = checkRow(row);
  const may = kind === 'commit' || kind === 'root' || kind === 'branch';
  if (!may || payload.at > branch.payload.at) {
    const rule = may ? 'branch.time' : 'branch.kind';
    const detail = may
      ? 'the branch is older than its source'
      : `a branch cannot start at a ${kind} entry`;
    throw new LedgerFault({
      trajectory_id: branch.trajectory_id,
      seq: 0,
      code: 'rule_broken',
      rule,
      detail,
    });
  }
  return row.seq + 1;
}

function missing({ trajectory_id, seq }: Entry, rule: RuleId, detail: string): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code: 'source_missing', rule, detail });
}
