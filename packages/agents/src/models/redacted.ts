/** Maximum length of a quoted text of a server. */
const QUOTED_MAX = 300;
/** A part of a key of this length is removed too: servers quote keys in part. */
const PART = 6;

/**
 * A server's text for an error message: in one line, shortened, and without any part of the secret.
 */
export function redacted(text: string, secret: string | undefined): string {
  const line = withoutParts(text.slice(0, 4_096), secret ?? '')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return line.length > QUOTED_MAX
    ? `${line.slice(0, QUOTED_MAX).toWellFormed()}…`
    : line.toWellFormed();
}

function withoutParts(text: string, secret: string): string {
  if (secret === '') return text;
  const length = Math.min(PART, secret.length);
  let clean = '';
  for (let at = 0; at < text.length; ) {
    if (!secret.includes(text.slice(at, at + length)) || at + length > text.length) {
      clean += text[at++];
      continue;
    }
    let end = at + length;
    while (end < text.length && secret.includes(text.slice(end - length + 1, end + 1))) end++;
    clean += '[key]';
    at = end;
  }
  return clean;
}
