/**
 * The beginning of a result that stands in for another one. A text that only looks like it does no
 * harm: the ledger is asked again, and gives the recorded result.
 */
const INTERIM = 'No result yet. ';

/** The result of a call for the model, while the conversation goes on and a person has to act. */
export function interimText(why: string): string {
  return `${INTERIM}${why}`;
}

/** The interim result of a call that waits for a person. */
export function waitsText(reason: string): string {
  return interimText(
    `The call waits for a person (${reason}). Do not repeat it: its result will stand here.`,
  );
}

export function isInterimText(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(INTERIM);
}
