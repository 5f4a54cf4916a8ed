import { DidNothing } from 'assize/internal/effects';

const PART = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * A filled placeholder contains these characters only in an escape, so any of them separates two
 * placeholders.
 */
const APART = /[^A-Za-z0-9%]/;

/** How keys begin: with a text, and then with the key of the effect or a field of the input. */
export interface KeyStart {
  readonly text: string;
  readonly next: 'effect' | 'input';
}

/** The start of calls that pass the key of the effect unchanged. */
export const EFFECT_KEY: KeyStart = { text: '', next: 'effect' };

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
  if (strange !== undefined)
    return `the key ${said} names ${strange}, which is not a field of the input`;
  if (/[{}]/.test(template.replaceAll(PART, '')))
    return `the key ${said} has a brace outside of a {field}`;
  if (names.length === 0)
    return `the key ${said} would be the same for every call. Name a field, or {key}`;
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

/** The start of the keys that a valid template produces. */
export function keyStart(template: string): KeyStart {
  const at = template.indexOf('{');
  return {
    text: template.slice(0, at),
    next: template.startsWith('{key}', at) ? 'effect' : 'input',
  };
}

/** The start of keys after a key with another start replaces the effect key. */
export function startWithin({ text, next }: KeyStart, given: KeyStart): KeyStart {
  return next === 'effect'
    ? { text: text + escapedText(given.text), next: given.next }
    : { text, next };
}

/** The hex digits of an `effectKey`. */
const EFFECT_KEY_DIGITS = 64;

/** Whether keys with these starts may be equal. Two effects never have the same effect key. */
export function mayBeEqual(one: KeyStart, other: KeyStart): boolean {
  if (one.text.length > other.text.length) return mayBeEqual(other, one);
  if (!other.text.startsWith(one.text)) return false;
  const rest = other.text.slice(one.text.length);
  if (one.next === 'input') return true;
  return rest === ''
    ? other.next === 'input'
    : /^[0-9a-f]*$/.test(rest.slice(0, EFFECT_KEY_DIGITS));
}

function escapedText(text: string): string {
  return [...new TextEncoder().encode(text)]
    .map((byte) => {
      const sign = String.fromCharCode(byte);
      return /[A-Za-z0-9]/.test(sign) ? sign : `%${byte.toString(16).padStart(2, '0')}`;
    })
    .join('');
}
