import { AssizeError } from 'assize/internal/base';

export type CedarErrorCode =
  /** The optional package `@cedar-policy/cedar-wasm` is not installed. Install the package. */
  | 'missing_peer'
  /**
   * The Cedar schema is invalid, or declares requests that this adapter does not make. Correct the
   * schema. Evidence `{problems}`.
   */
  | 'bad_schema'
  /**
   * The policies are not Cedar, do not fit the schema, or use unsupported features. Correct the
   * policies. Evidence `{problems}`.
   */
  | 'bad_policy';

/**
 * A Cedar schema or policy that can't be used. A policy that was accepted answers with decisions
 * and never with errors.
 */
export class CedarError extends AssizeError<CedarErrorCode> {
  override readonly name = 'CedarError';
}

/** All that is wrong, each in a sentence; Cedar's own words where Cedar said it. */
export function refused(code: 'bad_schema' | 'bad_policy', problems: readonly string[]): CedarError {
  const what = code === 'bad_schema' ? 'The Cedar schema' : 'The Cedar policies';
  return new CedarError(code, `${what} cannot be used: ${problems.join('; ')}.`, { evidence: { problems } });
}
