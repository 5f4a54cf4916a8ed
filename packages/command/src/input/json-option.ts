import { type AssizeError, isAssizeError, type Json } from 'assize/internal/base';
import { parseStrict, textPlace } from 'assize/internal/canon';
import { InvalidArgumentError } from 'commander';

/** The value of an option that takes JSON. @throws InvalidArgumentError */
export function jsonOption(text: string): Json {
  try {
    return parseStrict(text);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new InvalidArgumentError(jsonFault(error));
  }
}

/** The fault of a text that is not JSON, its place, and an example for a shell. */
export function jsonFault(error: AssizeError): string {
  const what = error.code === 'syntax' ? 'is not JSON' : 'is not accepted';
  return `It ${what}${textPlace(error)}: ${error.message} Write it in single quotes, such as '{"to":"ada","cents":500}'.`;
}
