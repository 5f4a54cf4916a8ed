/**
 * The text with which the SDK answers the model for an error of a tool that has no `errorFunction`
 * of its own. The SDK gives the text as the output of the tool, and keeps the error.
 */
const FAILED = 'An error occurred while running the tool. Please try again.';

const NAME = 'ToldFailure';

/** A failure of a tool that the SDK has put into words for the model. */
export class ToldFailure extends Error {
  override readonly name = NAME;
}

/** Whether an output is the SDK's text for a failure. */
export function isFailureText(output: unknown): output is string {
  return output === FAILED;
}

/** The text of a recorded failure. Undefined for an error that was thrown. */
export function recordedFailureText(error: unknown): string | undefined {
  const { name, message } = (error ?? {}) as {
    readonly name?: unknown;
    readonly message?: unknown;
  };
  return name === NAME && typeof message === 'string' ? message : undefined;
}
