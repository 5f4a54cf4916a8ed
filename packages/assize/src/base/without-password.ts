/**
 * A URL from its scheme to the end of the text. `postgres:` counts without slashes too, because a
 * mistyped URL must not show its password either.
 */
const URL_TO_END = /((?:[a-z][a-z0-9+.-]*:\/\/|postgres(?:ql)?:\/*))(.*)$/is;

/** The names of parameters that contain a password, such as `password` and `sslpassword`. */
const SECRET = /pass|pwd|secret/i;

/**
 * The text without the password of its URL. The URL reaches to the end of the text. The user name
 * stays.
 *
 * A password can contain `/`, `?`, `@` or a space without an escape. The function therefore removes
 * all text between the first `:` and the last `@`, and never too little.
 */
export function withoutPassword(text: string): string {
  return text.replace(URL_TO_END, (url: string, scheme: string, rest: string) => {
    if (/^file:/i.test(scheme)) return url;
    return scheme + withoutSecrets(rest.replace(/^([^:@]*):.*@/s, '$1@'));
  });
}

function withoutSecrets(rest: string): string {
  const begin = rest.indexOf('?');
  if (begin < 0) return rest;
  const kept = rest
    .slice(begin + 1)
    .split('&')
    .filter((parameter) => !SECRET.test(nameOf(parameter)));
  return kept.length === 0 ? rest.slice(0, begin) : `${rest.slice(0, begin)}?${kept.join('&')}`;
}

/** The name as the reader of the URL decodes it. */
function nameOf(parameter: string): string {
  return new URLSearchParams(parameter).keys().next().value ?? '';
}
