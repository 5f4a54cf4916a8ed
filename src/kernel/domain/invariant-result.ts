/** What an invariant says of a state (seed 000, Definition A.12). */
export type InvariantResult =
  | { readonly result: 'pass' }
  | { readonly result: 'reject'; readonly detail: string }
  | { readonly result: 'escalate'; readonly detail: string };

export const pass: InvariantResult = Object.freeze({ result: 'pass' });

/** The state breaks the rule; `detail` tells the agent what to do differently. */
export function reject(detail: string): InvariantResult {
  return { result: 'reject', detail };
}

/** Only a person can judge this state; `detail` tells the counselor what to look at. */
export function escalate(detail: string): InvariantResult {
  return { result: 'escalate', detail };
}
