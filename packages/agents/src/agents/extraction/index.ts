/**
 * Extraction: claims from messages, with any model behind the oracle log.
 *
 * Guarantees: the oracle log has each answer before it is used. An answer is accepted only in the
 * requested form: declared predicates, allowed subjects, given messages. The same messages under
 * the same terms call no model and make the same claims. Neither a message nor a model's answer has
 * authority: a proposal under a writ asserts the claims.
 *
 * Never: asserts facts, repairs an answer, exceeds the attempts, or imports vendor code. May import
 * canon, kernel and oracle.
 */
export type { ExtractedClaim, LeftOutFact } from './answer.ts';
export { ExtractionError, type ExtractionErrorCode } from './errors.ts';
export {
  type AskModel,
  type Extracted,
  type Extraction,
  type ExtractionObservation,
  type ExtractionOptions,
  extractFacts,
  extractWith,
} from './extract.ts';
export type { Message } from './message.ts';
export { ATTEMPTS_MAX, type ExtractionTerms, type Model } from './terms.ts';
