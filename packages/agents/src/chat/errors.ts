import { AssizeError } from 'assize/internal/base';

export type ChatMemoryErrorCode =
  /** The memory has no model, and the call gives no facts. Set `model`, or pass `facts`. */
  | 'no_model'
  /** The memory has no trajectory or no writ, so it only reads. Pass both. */
  | 'no_writ'
  /**
   * The key was used for other messages. Use a new key, or repeat the call with the same messages.
   */
  | 'key_conflict'
  /** The writ covers no such space. Name another space, or use a writ that covers it. */
  | 'space_not_covered'
  /** The cursor is not one of this recall. Repeat the recall without a cursor. */
  | 'bad_cursor'
  /**
   * An alias is not valid: it is the name itself, or a predicate that the domain does not declare.
   * Correct the alias.
   */
  | 'bad_alias'
  /** `countTokens` returned no whole number from 0. Return the number of tokens of the text. */
  | 'bad_token_count'
  /** A metadata filter or a filter by trust is not valid. Correct the filter. */
  | 'bad_filter'
  /**
   * The fact to repair is unknown in the space, or no statement on record stands behind it. Pass
   * the id of a fact that a recall returned.
   */
  | 'no_such_fact'
  /** The first characters of an id fit several facts. Pass more characters. */
  | 'ambiguous';

/** A refused call of a chat memory. Nothing was recorded. */
export class ChatMemoryError extends AssizeError<ChatMemoryErrorCode> {
  override readonly name = 'ChatMemoryError';
}
