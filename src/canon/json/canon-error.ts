import { AssizeError, type ErrorDetails } from '#base';

/** Why a value has no canonical text. */
export type ValueFaultCode =
  | 'not_finite'
  | 'unsafe_integer'
  | 'bigint'
  | 'undefined'
  | 'function'
  | 'symbol'
  | 'symbol_key'
  | 'accessor'
  | 'hidden_property'
  | 'to_json'
  | 'lone_surrogate'
  | 'class_instance'
  | 'sparse_array'
  | 'array_property'
  | 'proxy'
  | 'cycle'
  | 'too_deep'
  | 'too_large'
  | 'too_many_nodes'
  | 'unreadable'
  | 'unstable';

/** Why a text was not accepted; a text can also have the faults of the value that it says. */
export type TextFaultCode = 'syntax' | 'duplicate_key' | 'byte_order_mark' | 'invalid_utf8' | 'not_canonical';

/** Stable, for programs: a code is never renamed or used for something else. */
export type CanonErrorCode = ValueFaultCode | TextFaultCode | 'bad_limits' | 'bad_pointer' | 'bad_instant';

/**
 * What this folder throws when a value or a text is not what it must be. `pointer` (RFC 6901) leads to the place inside
 * the value, '' when the fault is of the whole; it is in the evidence as well, with what else is known.
 */
export class CanonError extends AssizeError<CanonErrorCode> {
  override readonly name = 'CanonError';
  readonly pointer: string;

  constructor(code: CanonErrorCode, pointer: string, message: string, details: ErrorDetails = {}) {
    super(code, message, { ...details, evidence: { ...details.evidence, pointer } });
    this.pointer = pointer;
  }
}
