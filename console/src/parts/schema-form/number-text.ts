/**
 * The value of a number field: a number, the text if it is not a number, or undefined if it is
 * empty.
 */
export function numberOf(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(trimmed) &&
    Number.isFinite(Number(trimmed))
    ? Number(trimmed)
    : text;
}

/** The text of a value in a number field. */
export function numberText(value: unknown): string {
  return typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
}
