import type { Trajectory } from './agents-query.ts';

/** How a trajectory began from another one. */
export type Tie = 'branch' | 'delegation';

/** A trajectory with its place in the drawing: the generation, and the line in reading order. */
export interface Placed {
  readonly trajectory: Trajectory;
  readonly column: number;
  readonly line: number;
  readonly parent: string | undefined;
  readonly tie: Tie | undefined;
}

/** Trajectories that a drawing shows. More would not be read. */
export const DRAWN_MAX = 80;

/** The trajectory that this one began from. */
export function parentOf({ source, delegated_from }: Trajectory): string | undefined {
  return source ?? delegated_from ?? undefined;
}

export function tieOf({ source, delegated_from }: Trajectory): Tie | undefined {
  if (source !== null) return 'branch';
  return delegated_from === null ? undefined : 'delegation';
}

export function childrenOf(all: readonly Trajectory[], id: string): readonly Trajectory[] {
  return all.filter((one) => parentOf(one) === id);
}

/** A trajectory with all that it began from and all that began from it or beside it. */
export function familyOf(all: readonly Trajectory[], id: string): readonly Placed[] {
  const byId = new Map(all.map((one) => [one.trajectory_id, one]));
  const below = Map.groupBy(all, parentOf);
  const placed: Placed[] = [];
  const seen = new Set<string>();
  let line = 0;
  const place = (trajectory: Trajectory, column: number): void => {
    const { trajectory_id } = trajectory;
    if (seen.has(trajectory_id) || placed.length === DRAWN_MAX) return;
    seen.add(trajectory_id);
    const children = below.get(trajectory_id) ?? [];
    placed.push({ trajectory, column, line, parent: parentOf(trajectory), tie: tieOf(trajectory) });
    for (const [n, child] of children.entries()) {
      if (n > 0) line++;
      place(child, column + 1);
    }
  };
  const eldest = eldestOf(byId, id);
  if (eldest !== undefined) place(eldest, 0);
  return placed;
}

function eldestOf(byId: ReadonlyMap<string, Trajectory>, id: string): Trajectory | undefined {
  const passed = new Set<string>();
  let one = byId.get(id);
  while (one !== undefined && !passed.has(one.trajectory_id)) {
    passed.add(one.trajectory_id);
    const parent = parentOf(one);
    const next = parent === undefined ? undefined : byId.get(parent);
    if (next === undefined) return one;
    one = next;
  }
  return one;
}
