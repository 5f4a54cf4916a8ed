import type { z } from 'zod';
import { escapeSegment } from '#canon';
import type { ActionSpec } from './domain.ts';
import type { DomainSpec } from './domain-spec.ts';
import { invalid } from './invalid-domain.ts';
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
  const processes = spec.processes ?? { state: { writes: placesIn(spec) } };
  const names = Object.keys(processes);
  const roles = spec.roles ?? { agent: { processes: names } };
  const only = names.length === 1 ? names[0] : undefined;
  const actions = Object.fromEntries(
    Object.entries(spec.actions as Record<string, ActionSpec>).map(([name, action]) => [
      name,
      { ...action, process: action.process ?? only },
    ]),
  );
  return { ...spec, processes, roles, actions } as CompleteSpec<Schema>;
}

/** A pointer for each member of the state. @throws KernelError `invalid_domain` */
function placesIn({ name, state }: DomainSpec<any, any>): string[] {
  const { members, every } = partsOf(state) ?? {};
  if (members === undefined)
    throw invalid(
      name,
      'its state is neither an object nor a record or a list; name its processes',
    );
  return every === undefined ? [...members.keys()].map((key) => `/${escapeSegment(key)}`) : ['/*'];
}
