/**
 * The shop of tau-bench: its database, the seven tools that write to it, and its agent policy as invariants.
 *
 * Guarantees: the tools do to the records what the benchmark's own tools do, member for member; an agent sees and
 * changes what is its user's and nobody else's; no committed state breaks a rule of the policy that can be read off the
 * state. Not enforced: the policy's rules about the conversation (README.md lists every sentence).
 */
import { defineDomain } from 'assize/internal/kernel';
import { policy } from './policy.ts';
import { processes, roles } from './roles.ts';
import { retailState } from './schema.ts';
import { actions } from './tools.ts';

export { retailInitial, retailRecordsOf } from './initial.ts';
export type { OrderEvent, RetailRecords, RetailState } from './schema.ts';
export { type RetailActions, type RetailTools, retailTools } from './tools.ts';

export const retail = defineDomain({
  name: 'retail',
  version: '1',
  state: retailState,
  processes,
  roles,
  actions,
  invariants: policy,
});
