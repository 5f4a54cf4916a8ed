import type { DatabaseSync } from 'node:sqlite';

/** Entries of one step. A step takes some tens of milliseconds. */
const STEP = 10_000;

/** A trajectory with something to review, by the entries so far. */
interface Reviewed {
  /** Pending entries, less the entries that resolve one. */
  readonly open: number;
  readonly halts: boolean;
}

interface Row {
  readonly trajectory: number;
  readonly open: number;
  readonly halts: number;
}

/**
 * The trajectories with more pending entries than entries that resolve one, or with a halt, in
 * order of creation. Each entry is read once, some in each call: undefined if more are left. Only a
 * payload whose text has the name `resolves` is parsed. The marker of an archived payload has
 * letters instead (`archive/marker.ts`).
 */
export function prepareToReview(db: DatabaseSync): () => string[] | undefined {
  const read = db.prepare(`
    SELECT trajectory, max(instr(payload, '"assize.halt"') + (payload GLOB '@*h*')) AS halts, sum(kind = 'pending_approval') - sum(
      CASE WHEN payload GLOB '@*r' THEN 1
        WHEN instr(payload, '"resolves":"') = 0 OR NOT json_valid(payload) THEN 0
        ELSE json_extract(payload, '$.resolves') IS NOT NULL END
    ) AS open FROM entry WHERE position > ? AND position <= ? GROUP BY trajectory`);
  const end = db.prepare('SELECT coalesce(max(position), 0) AS last FROM entry');
  const nameOf = db.prepare('SELECT name FROM trajectory WHERE key = ?');
  let through = 0;
  let known: ReadonlyMap<number, Reviewed> = new Map();
  return () => {
    const last = end.get()?.['last'] as number;
    const to = Math.min(last, through + STEP);
    const found =
      to === through ? known : withRows(known, read.all(through, to) as unknown as Row[]);
    // Entries of an open transaction may vanish again, so they count for this call only.
    if (!db.isTransaction) {
      known = found;
      through = to;
    }
    if (to < last) return undefined;
    return [...found]
      .filter(([, { open, halts }]) => open > 0 || halts)
      .map(([key]) => key)
      .sort((a, b) => a - b)
      .map((key) => nameOf.get(key)?.['name'] as string);
  };
}

function withRows(
  known: ReadonlyMap<number, Reviewed>,
  rows: readonly Row[],
): ReadonlyMap<number, Reviewed> {
  const all = new Map(known);
  for (const { trajectory, open, halts } of rows) {
    const before = known.get(trajectory) ?? { open: 0, halts: false };
    const now = { open: before.open + open, halts: before.halts || halts > 0 };
    if (now.open === 0 && !now.halts) all.delete(trajectory);
    else all.set(trajectory, now);
  }
  return all;
}
