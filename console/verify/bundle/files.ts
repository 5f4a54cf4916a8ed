import { textOf, utf8 } from '../bytes/text.ts';
import { Unreadable } from './findings.ts';

/** The files of a bundle, by their names. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** The text of a file. @throws Unreadable */
export function textIn(files: Files, name: string): string {
  const bytes = files.get(name);
  if (bytes === undefined) throw new Unreadable('bad_manifest', `The file ${name} is missing.`);
  const text = textOf(bytes);
  if (text === undefined) throw new Unreadable('bad_form', `The file ${name} is not UTF-8.`);
  return text;
}

/** The files in the element of a page: a JSON object of texts by name. @throws Unreadable */
export function embeddedFiles(json: string): Files {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = undefined;
  }
  const isTexts = typeof value === 'object' && value !== null && !Array.isArray(value);
  const all = isTexts ? Object.entries(value as object) : [];
  if (!isTexts || !all.every(([, text]) => typeof text === 'string'))
    throw new Unreadable('bad_zip', 'The bundle in this page is not an object of texts.');
  return new Map(all.map(([name, text]) => [name, utf8(text as string)]));
}
