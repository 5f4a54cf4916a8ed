import type { CanonError } from './canon-error.ts';

/**
 * The place of a fault in a text, as words: ` at column 7`, ` at line 2, column 7`. Empty if the
 * error names no place.
 */
export function textPlace({ evidence }: Pick<CanonError, 'evidence'>): string {
  const { line = 1, column } = evidence as { readonly line?: number; readonly column?: number };
  if (column === undefined) return '';
  return ` at ${line > 1 ? `line ${line}, ` : ''}column ${column}`;
}
