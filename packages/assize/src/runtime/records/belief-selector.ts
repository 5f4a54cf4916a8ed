/**
 * The facts to erase: all statements about a subject, or about one predicate of it, or one claim.
 */
export interface BeliefSelector {
  readonly space: string;
  readonly subject: string;
  readonly predicate?: string;
  readonly claim?: string;
}
