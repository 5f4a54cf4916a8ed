import { AssizeError } from 'assize/internal/base';

export type EngineErrorCode =
  /**
   * The call has no run, which would tell a repetition. Call it in a workflow or a handler of the
   * engine, or pass `run`. Evidence `{tool}`.
   */
  | 'no_run'
  /**
   * The call was made, and its function returned no JSON, so the result is lost. Return JSON.
   * Evidence `{call}`.
   */
  | 'result_not_json';

/** A call in a step of an engine that has no identity, or no result that can be kept. */
export class EngineError extends AssizeError<EngineErrorCode> {
  override readonly name = 'EngineError';
}
