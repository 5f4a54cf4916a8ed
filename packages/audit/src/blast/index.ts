/**
 * The blast radius: the entries, facts, calls and pending proposals that derive from one entry, one
 * principal or one writ.
 *
 * Guarantees: nothing that derives is left out, except through values that were erased.
 * Never: writes.
 */
export type { AffectedCall } from './affected-call.ts';
export type { AffectedFact, AffectedStatements, FactConsequences } from './affected-facts.ts';
export { type BlastDocument, blastDocument } from './blast-document.ts';
export {
  type BlastRadius,
  type BlastRadiusOptions,
  blastRadius,
  DERIVATIONS,
} from './blast-radius.ts';
export { gatewayCall } from './gateway-call.ts';
export type { IncidentStart, NamedFacts } from './incident-start.ts';
