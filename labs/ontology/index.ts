/**
 * Ontology-first design (seed 000, §1.4 and §2): from a description of a domain in BFO, as Turtle,
 * to its worker roles, invariants, kind of system, and a domain to fill in.
 *
 * Guarantees: every function is pure over a plain `Ontology`, and reports the reason of each
 * derivation. The same text gives the same answer. The problems of an ontology are a list of
 * findings that say what to do. A drafted module runs only in a process with limits, and a person
 * accepts it in a ledger. Never: writes a file other than a store, runs its own model, or is
 * needed by anything that rules.
 *
 * Imports `assize`; `n3`, to read Turtle; and `typescript`, to check drafted modules.
 */
export { check } from './check.ts';
export { type Clustering, type Merge, OVERLAP_MIN } from './cluster.ts';
export { compare, type Difference } from './compare.ts';
export {
  type AlignedSteps,
  alignPaths,
  type Trait,
  type TraitDifference,
} from './comparison/align-paths.ts';
export { drawComparison } from './comparison/draw-comparison.ts';
export {
  type HappyPath,
  type HappyPathOptions,
  happyPath,
  type Passing,
  type PathStep,
} from './comparison/happy-path.ts';
export {
  type ArchitectureLevel,
  type Isomorphism,
  type IsomorphismOptions,
  isomorphism,
} from './comparison/isomorphism.ts';
export type { RehearsedStep, Walk } from './comparison/rehearsal.ts';
export { type Draft, type DraftOptions, draftOntology, type Model } from './draft.ts';
export { acceptDraft, type SubmittedDraft, submittedDraft } from './drafting/acceptance.ts';
export {
  type DraftRound,
  draftModule,
  type ModuleDraft,
  type ModuleDraftOptions,
} from './drafting/draft-module.ts';
export type { DraftFinding } from './drafting/finding.ts';
export { type RecordedDraft, type RecordedDraftOptions, recordDraft } from './drafting/record.ts';
export { draw } from './draw.ts';
export { drawContinuant } from './draw-continuant.ts';
export { OntologyError, type OntologyErrorCode } from './errors.ts';
export type { Finding, FindingCode } from './finding.ts';
export {
  concluded,
  type Fingerprint,
  fingerprint,
  type Verdict,
  withSearch,
} from './fingerprint.ts';
export { type DerivedInvariant, deriveInvariants } from './invariants.ts';
export type {
  Component,
  Continuant,
  Description,
  Entity,
  Ontology,
  PolicyRule,
  ProcessClass,
  WorkerRole,
} from './ontology.ts';
export { parse } from './parse.ts';
export { type DerivedRole, type DerivedRoles, deriveRoles, type RoleOptions } from './roles.ts';
export { type Scaffold, scaffold } from './scaffold.ts';
export {
  findWriteSkew,
  type SkewOptions,
  type SkewProposal,
  type SkewSearch,
  type SkewWitness,
} from './write-skew.ts';
