export type { AffectedCall } from './affected-call.ts';
export type { AffectedFact, AffectedStatements, FactConsequences } from './affected-facts.ts';
export {
  type BlastRadius,
  type BlastRadiusOptions,
  blastRadius,
  DERIVATIONS,
} from './blast-radius.ts';
export type { DependentEntry } from './dependents.ts';
export type { Derivation } from './entry-links.ts';
export { gatewayCall } from './gateway-call.ts';
export type { IncidentStart, NamedFacts } from './incident-start.ts';
export type { AffectedEntry } from './lineage-walk.ts';
export { type HeldWrit, WritHolders } from './writ-holders.ts';
