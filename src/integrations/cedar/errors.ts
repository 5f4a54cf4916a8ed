import { AssizeError } from '#base';

export type CedarErrorCode =
  /** The package `@cedar-policy/cedar-wasm`, an optional peer, is not installed. */
  | 'missing_peer'
  /** The schema is not one, or declares what no request of this adapter has; evidence `{problems}`. */
  | 'bad_schema'
  /** The policies are not Cedar, do not fit the schema, or use what this adapter does not take; evidence `{problems}`. */
  | 'bad_policy';

/** What is wrong with a policy before it is first asked. What it then answers is never an error, but a decision. */
export class CedarError extends AssizeError<CedarErrorCode> {
  override readonly name = 'CedarError';
}

/** All that is wrong, each in a sentence; Cedar's own words where Cedar said it. */
export function refused(code: 'bad_schema' | 'bad_policy', problems: readonly string[]): CedarError {
  const what = code === 'bad_schema' ? 'The Cedar schema' : 'The Cedar policies';
  return new CedarError(code, `${what} can’t be used: ${problems.join('; ')}.`, { evidence: { problems } });
}
