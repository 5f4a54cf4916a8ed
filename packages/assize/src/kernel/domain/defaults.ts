import type { z } from 'zod';
import { escapeSegment } from '#canon';
import type { ActionSpec } from './domain.ts';
import type { DomainSpec } from './domain-spec.ts';
import { partsOf } from './schema.ts';

/** A declaration with its processes, its roles, and the process of each action. */
export type CompleteSpec<Schema extends z.ZodType = any> = DomainSpec<Schema, any> &
  Required<Pick<DomainSpec<Schema, any>, 'processes' | 'roles'>>;

/**
 * The declaration with what it leaves out. Without processes, one process `state` sees and changes
 * every member of the state. Without roles, one role `agent` performs every process. An action of a
 * domain with one process belongs to it.
 */
export function completed<Schema extends z.ZodType>(
  spec: DomainSpec<Schema, any>,
): CompleteSpec<Schema> {
  const processes = spec.processes ?? { state: { writes: placesIn(spec.state) } };
  const names = Object.keys(processes);
  const roles = spec.roles ?? { agent: { processes: names } };
  const only = names.length === 1 ? { process: names[0] } : {};
  const actions = Object.fromEntries(
    Object.entries(spec.actions as Record<string, ActionSpec>).map(([name, action]) => [
      name,
      { ...only, ...action },
    ]),
  );
  return { ...spec, processes, roles, actions } as CompleteSpec<Schema>;
}

/** A pointer for each member of the state. */
function placesIn(state: z.ZodType): string[] {
  const { members, every } = partsOf(state) ?? {};
  if (every !== undefined) return ['/*'];
  return [...(members?.keys() ?? [])].map((name) => `/${escapeSegment(name)}`);
}
