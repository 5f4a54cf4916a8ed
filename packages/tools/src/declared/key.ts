import { DidNothing } from 'assize/internal/effects';

const PART = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * A filled placeholder contains these characters only in an escape, so any of them separates two
 * placeholders.
 */
const APART = /[^A-Za-z0-9%]/;

/** The form of keys: literal strings, and placeholders. */
export type KeyForm = readonly (string | KeyPlace)[];

/**
 * A placeholder: filled by the effect's key, or by an input field that is escaped the given number
 * of times.
 */
export type KeyPlace = { readonly of: 'effect' } | { readonly of: 'input'; readonly escaped: number };

/** The form of calls that pass the key of the effect unchanged. */
export const EFFECT_KEY: KeyForm = [{ of: 'effect' }];

/**
 * Why a key template can't be used, or undefined. Two different calls must have different keys, so
 * each placeholder must be separated from the next. A tool that may be compensated needs `{key}`: a
 * sink must not answer a new attempt with a compensated result
 * (docs/decisions/016-effect-outcomes.md).
 */
export function keyProblem(
  template: string,
  members: ReadonlySet<string>,
  { isUndone }: { readonly isUndone: boolean },
): string | undefined {
  const names = [...template.matchAll(PART)].map(([, name]) => name as string);
  const strange = names.find((name) => name !== 'key' && !members.has(name));
  const said = JSON.stringify(template);
  if (strange !== undefined) return `the key ${said} names ${strange}, which is not a field of the input`;
  if (/[{}]/.test(template.replaceAll(PART, ''))) return `the key ${said} has a brace outside of a {field}`;
  if (names.length === 0) return `the key ${said} would be the same for every call. Name a field, or {key}`;
  const between = template.split(/\{[A-Za-z_][A-Za-z0-9_]*\}/).slice(1, -1);
  if (!between.every((text) => APART.test(text)))
    return `the key ${said} would be the same for different calls. Separate its fields, as in {a}:{b}`;
  if (isUndone && !names.includes('key'))
    return `the key ${said} would be the same before and after a compensation. Name {key} too`;
  return undefined;
}

/**
 * Fills a key template.
 * @throws DidNothing if a field is neither a string nor a number
 */
export function filledKey(template: string, input: unknown, key: string): string {
  return template.replaceAll(PART, (_, name: string) => {
    const value = name === 'key' ? key : (input as Record<string, unknown> | null)?.[name];
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new DidNothing(`its key needs ${name} as a string or a number`, { final: true });
    return escapedText(String(value));
  });
}

/** The form of the keys that a template produces. */
export function keyForm(template: string): KeyForm {
  return template.split(PART).map((part, i) => {
    if (i % 2 === 0) return part;
    return part === 'key' ? { of: 'effect' } : { of: 'input', escaped: 1 };
  });
}

/** The form of keys after a key of another form replaces the effect key. */
export function formWithin(form: KeyForm, given: KeyForm): KeyForm {
  return form.flatMap((part) => (typeof part !== 'string' && part.of === 'effect' ? given.map(escapedPart) : [part]));
}

function escapedPart(part: string | KeyPlace): string | KeyPlace {
  if (typeof part === 'string') return escapedText(part);
  return part.of === 'effect' ? part : { of: 'input', escaped: part.escaped + 1 };
}

function escapedText(text: string): string {
  return [...new TextEncoder().encode(text)]
    .map((byte) => (isPlain(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`))
    .join('');
}

/** Whether a byte stays unescaped in a filled placeholder. */
export function isPlain(byte: number): boolean {
  return /[A-Za-z0-9]/.test(String.fromCharCode(byte));
}
