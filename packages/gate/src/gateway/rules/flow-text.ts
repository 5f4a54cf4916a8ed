import type { Json } from 'assize/internal/base';

/**
 * A JSON value as YAML on one line. Texts come from calls: any text that is not a plain word is in
 * double quotes, with an escape for each character that ends a line or is not visible.
 */
export function flowText(value: Json): string {
  if (typeof value === 'string') return isPlain(value) ? value : quoted(value);
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item as Json)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${flowText(name)}: ${flowText(member as Json)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const PLAIN = /^\/?[A-Za-z_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_.-]+)*$/;
/** Words that YAML 1.1 or 1.2 reads as another type. */
const TYPED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function isPlain(text: string): boolean {
  return PLAIN.test(text) && !TYPED.test(text);
}

function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, (character) =>
    [...character].map(escaped).join(''),
  );
}

function escaped(character: string): string {
  const code = character.codePointAt(0) as number;
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}
