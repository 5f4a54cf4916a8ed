import { type Domain, defineDomain, type Invariant, type Rules } from 'assize/internal/kernel';
import { policy } from '../policy.ts';
import { type ProcessName, processes, roles } from '../roles.ts';
import { type RetailState, retailState } from '../schema.ts';
import { actionOf, type Tool } from '../tools/tool.ts';
import { tools } from '../tools.ts';

/** The tools with all their checks gone: each does what the call says. */
export const carelessActions = Object.fromEntries(
  Object.entries(tools).map(([name, tool]) => [
    name,
    actionOf({ ...(tool as Tool<ProcessName, unknown>), check: () => {} }),
  ]),
);

/**
 * The shop with careless tools, so only the policy refuses calls. A test can plant a fault by
 * leaving out some of its rules.
 */
export function carelessRetail(without: readonly string[] = []): Domain {
  return defineDomain({
    name: 'retail',
    version: 'careless',
    state: retailState,
    processes,
    roles,
    actions: carelessActions,
    invariants: (rules: Rules<RetailState>): Invariant<RetailState>[] =>
      policy(rules).filter(({ id }) => !without.includes(id)),
  });
}
