import { InvalidArgumentError } from 'commander';
import type { Json } from '#base';
import { parseStrict } from '#canon';

/** The value of an option that takes JSON. @throws InvalidArgumentError */
export function jsonOption(text: string): Json {
  try {
    return parseStrict(text);
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${(error as Error).message}`);
  }
}
