import { DidNothing } from '#effects';

const PART = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** What fills a place of a template never has one of these outside of an escape, so whatever has one keeps two places apart. */
const APART = /[^A-Za-z0-9%]/;

/** What keys look like: texts as they stand, and places that are filled. */
export type KeyForm = readonly (string | KeyPlace)[];

/** Filled by the key of the effect, or by something of the input, escaped that many times. */
export type KeyPlace = { readonly of: 'effect' } | { readonly of: 'input'; readonly escaped: number };

/** Of calls that hand on the key of the effect as it is. */
export const EFFECT_KEY: KeyForm = [{ of: 'effect' }];

/**
 * Why a template of keys can't be used, or undefined. Two different calls have to have different keys: each place has to be
 * kept apart from the next, and what may be compensated needs `{key}`, since a sink must not answer a new attempt with
 * what it has undone (decisions §5.8).
 */
export function keyProblem(
  template: string,
  members: ReadonlySet<string>,
  { isUndone }: { readonly isUndone: boolean },
): string | undefined {
  const names = [...template.matchAll(PART)].map(([, name]) => name as string);
  const strange = names.find((name) => name !== 'key' && !members.has(name));
  const said = JSON.stringify(template);
  if (strange !== undefined) return `the key ${said} names ${strange}, which is no member of the input`;
  if (/[{}]/.test(template.replaceAll(PART, ''))) return `the key ${said} has a brace that belongs to no {member}`;
  if (names.length === 0) return `the key ${said} would be the same for every call; name a member, or {key}`;
  const between = template.split(/\{[A-Za-z_][A-Za-z0-9_]*\}/).slice(1, -1);
  if (!between.every((text) => APART.test(text)))
    return `the key ${said} would be the same for different calls; keep its members apart, as in {a}:{b}`;
  if (isUndone && !names.includes('key'))
    return `the key ${said} would be the same after a compensation as before it; name {key} too`;
  return undefined;
}

/** @throws DidNothing where a member is no text and no number */
export function filledKey(template: string, input: unknown, key: string): string {
  return template.replaceAll(PART, (_, name: string) => {
    const value = name === 'key' ? key : (input as Record<string, unknown> | null)?.[name];
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new DidNothing(`its key needs ${name}, a text or a number`, { final: true });
    return escapedText(String(value));
  });
}

/** Of the keys that a template is filled to. */
export function keyForm(template: string): KeyForm {
  return template.split(PART).map((part, i) => {
    if (i % 2 === 0) return part;
    return part === 'key' ? { of: 'effect' } : { of: 'input', escaped: 1 };
  });
}

/** Of the keys of calls that are made with the keys of another form, in place of the key of an effect. */
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

/** Whether a byte stands as it is where a place is filled. */
export function isPlain(byte: number): boolean {
  return /[A-Za-z0-9]/.test(String.fromCharCode(byte));
}
