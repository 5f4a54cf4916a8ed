import type { FactRow } from 'assize/internal/memory';
import type { MemoryView } from 'assize/internal/runtime';
import { ALIAS, PREDICATE_ALIAS } from './domain.ts';
import { isErased } from './erased.ts';
import type { SpaceAliases } from './space-aliases.ts';

/** A space to read. */
export interface ReadSpace {
  readonly space: string;
  readonly view: MemoryView;
  readonly aliasesAt: (times: {
    readonly valid: string;
    readonly system?: string | undefined;
  }) => Promise<SpaceAliases>;
}

/** Both times of a recall; `system` is absent for now. */
export interface Times {
  readonly valid: string;
  readonly system?: string | undefined;
}

/** Whether a version is a fact that a recall shows: no name, and not erased. */
export function isShown(row: FactRow): boolean {
  return row.predicate !== ALIAS && row.predicate !== PREDICATE_ALIAS && !isErased(row);
}

/** A name means what it means now, also if facts of all times are asked for. */
export function nameTimes({ valid, system }: Times, now: string): Times {
  return { valid: valid === 'any' ? now : valid, system };
}
