/**
 * `assize/host`: for the packages that read recorded work and run it again. Unstable.
 *
 * Functions trust the types of their arguments: pass rows and payloads that a reader of the ledger
 * has checked.
 */
export { affordable } from './authority/check.ts';
export type { WritChain } from './authority/writs.ts';
export { holdersOf, loadWrit, Writs } from './authority/writs.ts';
export { namedKeys } from './entry-keys.ts';
export type { EntryLinks, Mark, Write } from './lineage/entry-links.ts';
export { walkLineage } from './lineage/lineage.ts';
export type { WalkOptions } from './lineage/lineage-walk.ts';
export { tokensOf, writeIn, writeTokensOf } from './memory/plan/stated-writes.ts';
export { factPages } from './memory/visible/fact-pages.ts';
export { rowOf } from './memory/visible/facts.ts';
export { DOMAIN, DOMAINS, NAMES, requireOwnDomains } from './option-names.ts';
export { recoveryKeyOf } from './options.ts';
export { amendedDifference } from './records/entry-payloads.ts';
export type { PendingSources } from './records/pending-proposal.ts';
export {
  observedValue,
  readPendingProposal,
  readSeenProposal,
  requestersOf,
  seenObservations,
} from './records/pending-proposal.ts';
export { readCalls, readOperations, readRefusedCalls, readValue } from './records/stored-values.ts';
export { hasToolObservation } from './records/tool-authority.ts';
export { loggedTransactions } from './transactions/coordination/read-all.ts';
export { snapshotFault } from './writer/snapshots/check.ts';
