/** The result of an invariant on a state (Agentic Redux, Definition A.12). */
export type InvariantResult =
  | { readonly result: 'pass' }
  | { readonly result: 'reject'; readonly detail: string }
  | { readonly result: 'escalate'; readonly detail: string };

export const pass: InvariantResult = Object.freeze({ result: 'pass' });

/** The state violates the rule. `detail` tells the agent which arguments to change. */
export function reject(detail: string): InvariantResult {
  return { result: 'reject', detail };
}

/** Only a human can decide on this state. `detail` tells the counselor which facts to inspect. */
export function escalate(detail: string): InvariantResult {
  return { result: 'escalate', detail };
}
