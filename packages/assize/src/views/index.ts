/**
 * Documents of the ledger for people and programs. The command line prints them with `--json`, and
 * the HTTP API answers with them, so both have the same form.
 *
 * Guarantees: an erased value is shown as erased, and a missing one as missing. Never: writes.
 */

export { blobsOf, blobValue, type EntryView, entryView } from './blobs.ts';
export { counted } from './counted.ts';
export {
  type Conclusions,
  conclusionsOf,
  type DelegationStep,
  delegationOf,
  stepOf,
} from './delegations.ts';
export { actionView, domainView } from './domain.ts';
export { DomainActions } from './domain-actions.ts';
export { type CallTexts, callTextsOf } from './effect-calls.ts';
export {
  effectTransactionView,
  type StoredEffectTexts,
  type StoredText,
  storedTextsOf,
} from './effects.ts';
export { pages, readable, shortId } from './entries.ts';
export { type LeftInState, leftInState } from './left-in-state.ts';
export { type Divergence, divergenceOf, type Span } from './lineage.ts';
export { type Override, overridesIn, overridesText, overrideText } from './overrides.ts';
export { type PendingParts, pendingParts, pendingView, type Questions } from './pending.ts';
export { proposedIn } from './proposed-args.ts';
export { recallOf } from './recall-of.ts';
export { type CallAnswer, callAnswer, type RulingDocument, rulingView } from './ruling.ts';
export {
  type Amount,
  majorText,
  type Presented,
  presentationOf,
  type Shown,
  type ShownField,
  shownOf,
} from './shown.ts';
export {
  amendmentText,
  causeOf,
  decidedBy,
  RULINGS,
  type Summary,
  type SummaryContext,
  shortTime,
  summaryOf,
} from './summary.ts';
export { type ToolCall, toolCalls } from './tool-calls.ts';
export type { EntryTrace } from './trace.ts';
export { visible, visibleJson, visibleWords } from './visible.ts';
