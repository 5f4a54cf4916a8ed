/** The result of an invariant on a state (Agentic Redux, Definition A.12). */
export type InvariantResult =
  | { readonly result: 'pass' }
  | { readonly result: 'reject'; readonly detail: string }
  | { readonly result: 'escalate'; readonly detail: string; readonly timeoutMs?: number };

export const pass: InvariantResult = Object.freeze({ result: 'pass' });

/** The state violates the rule. `detail` tells the agent which arguments to change. */
export function reject(detail: string): InvariantResult {
  return { result: 'reject', detail };
}

/**
 * Only a human can decide on this state. `detail` tells the counselor which facts to inspect.
 * `timeoutMs`: the time until this proposal expires, as the option of that name of an invariant.
 */
export function escalate(
  detail: string,
  options: { readonly timeoutMs?: number } = {},
): InvariantResult {
  return { ...options, result: 'escalate', detail };
}
