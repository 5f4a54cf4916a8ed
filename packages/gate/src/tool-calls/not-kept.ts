/**
 * The reason for which a repetition of a done call gets no result.
 *
 * @param at - the place in the result that is not plain data
 */
export function notKept(at?: string): string {
  return `its result was not kept: it is not plain data${at === undefined ? '' : ` at ${at}`}`;
}
