/**
 * Extraction: what messages state, as claims that may be asserted, by any model behind the oracle log.
 *
 * Guarantees: an answer of the model is in the oracle log before it counts; it counts only where it has the form that was asked for,
 * which is of declared predicates, allowed subjects and the messages given; the same messages under the same terms ask nobody and make
 * the same claims. What a message says has no authority, nor has what a model makes of it: it is said by a proposal, under a writ.
 * Never: says anything itself, repairs an answer, asks more often than it may, or imports what belongs to a vendor.
 * May import canon, kernel and oracle.
 */
export type { ExtractedClaim } from './answer.ts';
export { ExtractionError, type ExtractionErrorCode } from './errors.ts';
export {
  type AskModel,
  type Extracted,
  type Extraction,
  type ExtractionObservation,
  type ExtractionOptions,
  extractFacts,
  extractThrough,
} from './extract.ts';
export type { Message } from './message.ts';
export { ATTEMPTS_MAX, type ExtractionTerms, type Model } from './terms.ts';
