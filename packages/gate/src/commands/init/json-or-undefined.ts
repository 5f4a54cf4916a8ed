import { isInstance } from 'assize/internal/base';

/** The value of a text, or undefined if the text is not JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (isInstance(error, SyntaxError)) return undefined;
    throw error;
  }
}
