import type { Payload } from './entry.ts';

/** Which memory a trajectory says things in: that of a branch, by the id of its trajectory, or the one that all others share. */
export interface MemoryOf {
  readonly branch?: string;
}

/**
 * A branch has a memory of its own, and who was delegated to says things in that of who delegated. `firstOf` gives the payload of the first entry
 * of a trajectory. Undefined where that leads to a trajectory that is not there, or round in a circle.
 */
export async function memoryOf(
  trajectoryId: string,
  firstOf: (trajectoryId: string) => Promise<Payload | undefined>,
): Promise<MemoryOf | undefined> {
  const passed = new Set<string>();
  for (let id = trajectoryId; !passed.has(id); ) {
    passed.add(id);
    const first = await firstOf(id);
    if (first?.kind === 'branch') return { branch: id };
    if (first?.kind !== 'root') return undefined;
    if (first.delegated_from === undefined) return {};
    id = first.delegated_from.trajectory_id;
  }
  return undefined;
}
