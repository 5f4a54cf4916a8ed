import { AssizeError } from 'assize/internal/base';

export type MastraToolErrorCode =
  /**
   * The call has no run or no id, so a repetition of it could not be known. Call the tool in an
   * agent or a workflow, or pass `identity` in the options. Evidence `{tool}`.
   */
  | 'no_call_id'
  /**
   * The input is not JSON, so it cannot be judged or shown. Pass plain data. Evidence `{tool, at}`.
   */
  | 'input_not_json'
  /**
   * The call waits for a person, and its caller cannot pause. Call the tool in an agent or as a
   * step of a workflow. Evidence `{call, approval}`.
   */
  | 'cannot_suspend'
  /**
   * The tool suspended itself after it was begun, and cannot be made again. Let the rules ask
   * instead, or name the tool in `idempotent`. Evidence `{call}`.
   */
  | 'tool_suspended'
  /**
   * The call was made before, and the ledger cannot keep a result of its form. Return plain data
   * from the tool. Evidence `{call, at}`.
   */
  | 'result_not_kept';

/** A tool call of Mastra that cannot be judged, or cannot go on. */
export class MastraToolError extends AssizeError<MastraToolErrorCode> {
  override readonly name = 'MastraToolError';
}
