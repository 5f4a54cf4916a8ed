import { BLOB, NotCanonical, readCanonical } from '../bytes/canonical.ts';
import type { Members } from '../entries/basic-forms.ts';
import { type Files, textIn } from './files.ts';
import { type Code, Unreadable } from './findings.ts';

/**
 * The value of a file that is one canonical text and a newline. @throws Unreadable with the code
 */
export function readJson(files: Files, name: string, code: Code): unknown {
  const text = textIn(files, name);
  if (!text.endsWith('\n'))
    throw new Unreadable(code, `The file ${name} does not end with a newline.`);
  try {
    return readCanonical(text.slice(0, -1), BLOB);
  } catch (error) {
    if (error instanceof NotCanonical)
      throw new Unreadable(code, `The file ${name} ${error.message}.`);
    throw error;
  }
}

/** Whether an object has just these members. */
export function hasJust(
  value: Members,
  names: readonly string[],
  optional: readonly string[] = [],
): boolean {
  return (
    names.every((name) => Object.hasOwn(value, name)) &&
    Object.keys(value).every((name) => names.includes(name) || optional.includes(name))
  );
}
