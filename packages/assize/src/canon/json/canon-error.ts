import { AssizeError, type ErrorDetails, type GeneralCode } from '#base';

/** The reason why a value has no canonical text. */
export type ValueFaultCode =
  /** The number is NaN or infinite, which JSON can't write. Write a finite number, or a text. */
  | 'not_finite'
  /** The integer is beyond 2^53-1, and readers would round it. Write a decimal text. */
  | 'unsafe_integer'
  /** JSON has no bigint. Write a decimal text or a safe integer. */
  | 'bigint'
  /** JSON has no undefined. Leave the member out, or write null. */
  | 'undefined'
  /** A function is not data. Leave the member out. */
  | 'function'
  /** A symbol is not data. Write a text. */
  | 'symbol'
  /** A member is named by a symbol, and would be lost. Name the member by a text. */
  | 'symbol_key'
  /** A member is computed by an accessor. Give the value itself. */
  | 'accessor'
  /** A member is not enumerable, and would be lost. Make it a plain member. */
  | 'hidden_property'
  /** The object has a `toJSON` method. Call the method, and give its result. */
  | 'to_json'
  /** A text has half a surrogate pair, which has no UTF-8. Repair the text first. */
  | 'lone_surrogate'
  /** The value is an instance of a class. Convert it to a plain object or array. */
  | 'class_instance'
  /** The array has a hole. Write null in its place. */
  | 'sparse_array'
  /** The array has a member that is not an item, and would be lost. Put the member elsewhere. */
  | 'array_property'
  /** The value is a Proxy, which can answer differently each time. Give a plain copy. */
  | 'proxy'
  /** The value contains itself. Give a value without cycles. */
  | 'cycle'
  /** The value is nested deeper than the limit. Flatten it, or raise `depthMax`. */
  | 'too_deep'
  /** The value has more nodes than the limit. Give less, or raise `nodesMax`. */
  | 'too_many_nodes'
  /** Reading the value threw an error. Mend the cause that the error carries. */
  | 'unreadable'
  /** The value changed while it was read. Give a value that does not change. */
  | 'unstable';

/** Why a text was not accepted; a text can also have the faults of the value that it says. */
export type TextFaultCode =
  /** The text is not JSON. Correct the syntax at the pointer. */
  | 'syntax'
  /** An object names a member twice. Remove one of them. */
  | 'duplicate_key'
  /** The text begins with a byte order mark. Remove the mark. */
  | 'byte_order_mark'
  /** The bytes are not UTF-8. Encode the text as UTF-8. */
  | 'invalid_utf8'
  /** The stored text is not its own canonical form. Restore the text from a backup or an export. */
  | 'not_canonical';

/** Stable, for programs: a code is never renamed or reused. */
export type CanonErrorCode =
  | ValueFaultCode
  | TextFaultCode
  /** A limit is not a positive whole number, or is unknown. Correct the limits. */
  | 'bad_limits'
  /** The text is no JSON pointer (RFC 6901). Begin it with `/`, and escape `~` and `/`. */
  | 'bad_pointer';

/**
 * A value or a text that canonical JSON does not allow. `pointer` (RFC 6901) leads to the place
 * inside the value; it is '' when the whole value is at fault, and stands in the evidence as well.
 */
export class CanonError extends AssizeError<CanonErrorCode> {
  override readonly name = 'CanonError';
  readonly pointer: string;

  constructor(code: CanonErrorCode | GeneralCode, pointer: string, message: string, details: ErrorDetails = {}) {
    super(code, message, { ...details, evidence: { ...details.evidence, pointer } });
    this.pointer = pointer;
  }
}
