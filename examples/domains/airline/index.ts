/**
 * The airline of tau-bench: its booking database, the six tools that write to it, and its agent
 * policy as invariants.
 *
 * Guarantees: the tools do to the records what the benchmark's own tools do, field for field. No
 * committed state breaks a rule of the policy that the state shows. A supervisor decides cases that
 * need human judgement. Not enforced: the policy's rules about the conversation (README.md lists
 * every sentence).
 */
import { type Domain, defineDomain } from 'assize/internal/kernel';
import { SUPERVISOR } from './policy/supervisor.ts';
import { policy } from './policy.ts';
import { processes } from './processes.ts';
import { type AirlineState, airlineState } from './schema.ts';
import { type AirlineActions, actions } from './tools.ts';

export { AIRLINE_NOW, airlineInitial } from './initial.ts';
export type { AirlineRecords, AirlineState } from './schema.ts';
export { type AirlineActions, type AirlineTools, airlineTools } from './tools.ts';

export const airline: Domain<AirlineState, AirlineActions> = defineDomain({
  name: 'airline',
  version: '1',
  state: airlineState,
  processes,
  roles: { agent: { processes: Object.keys(processes) } },
  actions,
  invariants: policy,
  counselors: { [SUPERVISOR]: (principal) => principal.startsWith('supervisor:') },
});
