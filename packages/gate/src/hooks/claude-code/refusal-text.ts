/**
 * How Claude Code 2.1.332 begins the result of a call that it refused before it was made: the call
 * was invalid, a hook refused it, or the person or a rule of the person did. A failed command has
 * another beginning.
 */
const BEGINNINGS: readonly RegExp[] = [
  /^<tool_use_error>/,
  /^PreToolUse(?::| hook for )/,
  /^\[https?:[^\]]*\]: (?:failed|timed out); blocking/,
  /^Permission (?:to use |for this |denied by |denied for )/,
  /^Claude requested permissions to /,
  /^Auto mode is unavailable/,
  /^The user doesn't want to (?:proceed with this tool use|take this action)/,
  // The reason of an answer of Assize that asks the person, or refuses such a question.
  /^Assize: /,
];

/** Whether the result that the model read says that its call was not made. */
export function isRefusal(result: string): boolean {
  return BEGINNINGS.some((beginning) => beginning.test(result));
}
