import type { Payload } from './entry.ts';

/**
 * The memory in which a trajectory asserts facts: a branch's memory, by its trajectory id, or the
 * shared memory.
 */
export interface MemoryOf {
  readonly branch?: string;
}

/**
 * Finds the memory of a trajectory. A branch has its own memory, and a delegated trajectory uses
 * the memory of its delegator. `firstOf` returns the payload of a trajectory's first entry. Returns
 * undefined for a missing trajectory or a cycle.
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
