/**
 * The actions of the domain. An action records its arguments. The invariants decide whether the
 * record can stand. The action itself refuses only a meaningless record: a missing row, an existing
 * row, an unassigned agent.
 */
import { commitments } from './actions/commitments.ts';
import { desk } from './actions/desk.ts';
import { disclosing } from './actions/disclosure.ts';
import { patchTracking } from './actions/patch-tracking.ts';
import { reporter } from './actions/reporter.ts';
import { type ProcessName, roles } from './processes.ts';

export const actions = { ...desk, ...reporter, ...patchTracking, ...commitments, ...disclosing };

/** The role of each action: every process is performed by one role. */
export const ROLE_OF: { readonly [Name in keyof typeof actions]: keyof typeof roles } =
  Object.fromEntries(
    Object.entries(actions).map(([name, { process }]) => [name, roleOf(process)]),
  ) as { [Name in keyof typeof actions]: keyof typeof roles };

function roleOf(process: ProcessName): keyof typeof roles {
  const [name] =
    Object.entries(roles).find(([, role]) =>
      (role.processes as readonly string[]).includes(process),
    ) ?? [];
  return name as keyof typeof roles;
}
