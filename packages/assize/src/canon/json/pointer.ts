import { CanonError } from './canon-error.ts';

/**
 * One reference token, escaped: `~` is `~0` and `/` is `~1` (RFC 6901 section 3).
 *
 * @throws CanonError `bad_input` for a value that is not a string
 */
export function escapeSegment(segment: string): string {
  if (typeof segment !== 'string') throw badPointer('', 'a segment must be a string');
  if (!segment.includes('~') && !segment.includes('/')) return segment;
  // The tilde first: otherwise the tilde of a fresh `~1` would be escaped again.
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * The name of an escaped token (RFC 6901 section 4).
 *
 * @throws CanonError `bad_input` for a `/`, or a `~` that neither 0 nor 1 follows.
 */
export function unescapeSegment(segment: string): string {
  if (typeof segment !== 'string') throw badPointer('', 'a segment must be a string');
  if (segment.includes('/'))
    throw badPointer(segment, 'a segment must not contain "/". Write it as "~1"');
  return unescapeToken(segment, segment);
}

/**
 * The pointer of a path of names. An empty path is '', the whole document.
 *
 * @throws CanonError `bad_input` for a value that is not a list of strings
 */
export function toPointer(segments: readonly string[]): string {
  if (!Array.isArray(segments)) throw badPointer('', 'a path must be a list of names');
  let pointer = '';
  for (const segment of segments) pointer += '/' + escapeSegment(segment);
  return pointer;
}

/**
 * The names of a pointer's path (RFC 6901 section 3).
 *
 * @throws CanonError `bad_input` when it is not '' and does not begin with `/`, or has a stray
 * `~`.
 */
export function parsePointer(pointer: string): string[] {
  if (typeof pointer !== 'string') throw badPointer('', 'a pointer must be a string');
  if (pointer === '') return [];
  if (pointer[0] !== '/') throw badPointer(pointer, 'a pointer must be empty or start with "/"');
  const tokens = pointer.slice(1).split('/');
  return pointer.includes('~') ? tokens.map((token) => unescapeToken(token, pointer)) : tokens;
}

function unescapeToken(token: string, pointer: string): string {
  if (!token.includes('~')) return token;
  if (/~(?![01])/.test(token)) throw badPointer(pointer, '"~" must be followed by 0 or 1');
  // The slash first, as section 4 requires: `~01` is `~1`, not `/`.
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

function badPointer(pointer: string, why: string): CanonError {
  return new CanonError('bad_input', '', `The JSON pointer is not valid: ${why}.`, {
    evidence: { given: pointer },
  });
}
