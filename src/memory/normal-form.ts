/** Number of consecutive marks from which marks stay unsorted. Natural text rarely has thirty. */
const MARKS_MAX = 100;

/** The last two characters become marks in a compatibility form. */
const MANY_MARKS = new RegExp(`([\\p{M}\\uff9e\\uff9f]{${MARKS_MAX + 1},})`, 'u');

/**
 * Normalises a text to a Unicode form. The engine sorts consecutive marks in quadratic time: 16,384
 * marks block the thread for more than a second. A sequence of more than 100 marks therefore stays
 * unsorted, and the text around it is normalised separately.
 */
export function normalForm(text: string, form: 'NFC' | 'NFKD'): string {
  return text
    .split(MANY_MARKS)
    .map((part, n) => (n % 2 === 0 ? part.normalize(form) : part))
    .join('');
}
