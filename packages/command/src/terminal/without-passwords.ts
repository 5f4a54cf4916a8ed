import { withoutPassword } from 'assize/internal/base';

/** Texts of the command line and of the environment with a password, longest first. */
let given: readonly (readonly [text: string, shown: string])[] = [];

/**
 * Remembers the URLs in the words of a command line, so that messages show them without passwords.
 */
export function hidePasswordsIn(words: readonly string[]): void {
  given = words.flatMap((word) => /[a-z][a-z0-9+.-]*:.*$/is.exec(word)?.[0] ?? []).flatMap(shownAs);
}

/** The URL, and its parts up to an `@`, at which some arguments are split. */
function shownAs(url: string): [string, string][] {
  const shown = withoutPassword(url);
  if (shown === url) return [];
  const user = /^[^:]*:\/*[^:@]*/.exec(url)?.[0] ?? '';
  const parts = url.split('@');
  const cuts = parts.map((_, i) => parts.slice(0, i + 1).join('@')).slice(0, -1);
  return [[url, shown], ...cuts.reverse().map((cut): [string, string] => [cut, user])];
}

/**
 * A message without the passwords of the URLs in it. A URL that the command line gave can contain
 * spaces. Any other URL ends at a space.
 */
export function withoutPasswords(message: string): string {
  return given
    .reduce((rest, [text, shown]) => rest.replaceAll(text, shown), message)
    .replace(/\S+/g, withoutPassword);
}
