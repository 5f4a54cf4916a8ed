/** What is believed and is to be erased: all that is said of a subject, or of one predicate of it, or one claim. */
export interface BelievedPlace {
  readonly space: string;
  readonly subject: string;
  readonly predicate?: string;
  readonly claim?: string;
}
