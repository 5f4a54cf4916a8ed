/**
 * The shop of tau-bench: its database, the seven tools that write to it, and its agent policy as
 * invariants.
 *
 * Guarantees: the tools do to the records what the benchmark's own tools do, field for field. An
 * agent sees and changes only data of its user. No committed state breaks a rule of the policy that
 * the state shows. Not enforced: the policy's rules about the conversation (README.md lists every
 * sentence).
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
