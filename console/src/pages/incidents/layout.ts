import type { Derivation } from './derivation-words.ts';

/** The parts of an affected entry that its place in the drawing depends on. */
export interface Affected {
  readonly id: string;
  readonly trajectory_id: string;
  readonly from: readonly { readonly entry: string; readonly how: Derivation }[];
}

export interface Placed<Entry> {
  readonly entry: Entry;
  readonly column: number;
  readonly row: number;
}

export interface Edge {
  readonly from: { readonly column: number; readonly row: number };
  readonly to: { readonly column: number; readonly row: number };
  readonly how: Derivation;
}

export interface Layout<Entry> {
  /** The trajectories, in the order of their first affected entry. */
  readonly columns: readonly string[];
  readonly nodes: readonly Placed<Entry>[];
  readonly edges: readonly Edge[];
}

/**
 * Places entries that are in the order of the log: a column for each trajectory, a row for each
 * entry. So each edge goes down. An edge from an entry that is not listed is left out.
 */
export function layoutOf<Entry extends Affected>(entries: readonly Entry[]): Layout<Entry> {
  const columns = [...new Set(entries.map((entry) => entry.trajectory_id))];
  const nodes = entries.map((entry, row) => ({
    entry,
    row,
    column: columns.indexOf(entry.trajectory_id),
  }));
  const byId = new Map(nodes.map((node) => [node.entry.id, node]));
  const edges = nodes.flatMap((to) =>
    to.entry.from.flatMap(({ entry, how }) => {
      const from = byId.get(entry);
      return from === undefined ? [] : [{ from: placeOf(from), to: placeOf(to), how }];
    }),
  );
  return { columns, nodes, edges };
}

function placeOf({ column, row }: { readonly column: number; readonly row: number }) {
  return { column, row };
}
