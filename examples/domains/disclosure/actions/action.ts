import type { ApplyContext } from 'assize/internal/kernel';
import type { z } from 'zod';
import type { ProcessName, roles } from '../processes.ts';
import type { DisclosureState } from '../schema.ts';

type Roles = typeof roles;
/** The one role that performs a process. */
type RoleOf<Process extends ProcessName> = {
  [Name in keyof Roles]: Process extends Roles[Name]['processes'][number] ? Name : never;
}[keyof Roles];
type ParamsOf<Process extends ProcessName> = {
  readonly [Param in Roles[RoleOf<Process>]['params'][number]]: string;
};

export interface DisclosureAction<Name extends ProcessName, Args extends z.ZodType> {
  readonly process: Name;
  readonly description: string;
  readonly args: Args;
  readonly apply: (
    state: DisclosureState,
    args: z.output<Args>,
    context: ApplyContext<ParamsOf<Name>>,
  ) => void;
}

/** An action with the inputs of `apply` typed by its process and arguments. */
export function action<Name extends ProcessName, Args extends z.ZodType>(
  spec: DisclosureAction<Name, Args>,
): DisclosureAction<Name, Args> {
  return spec;
}

/**
 * The member under a key. A missing one is created. An assigned value is copied, so it is
 * read back.
 */
export function ensured<Row>(rows: Record<string, Row>, key: string, empty: NoInfer<Row>): Row {
  if (rows[key] === undefined) rows[key] = empty;
  return rows[key] as Row;
}
