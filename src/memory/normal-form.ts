/** Marks behind each other from which on they stay as they stand. Of what people write, hardly anything has thirty. */
const MARKS_MAX = 100;

/** The last two become marks in a compatible form. */
const MANY_MARKS = new RegExp(`([\\p{M}\\uff9e\\uff9f]{${MARKS_MAX + 1},})`, 'u');

/**
 * A text in one of Unicode's forms. The engine puts marks that follow each other into their order one by one, which takes as long as the square
 * of them: of a text that has nothing else, more than a second for 16,384, and the thread stands still meanwhile. So more than 100 in a row
 * stay as they stand, and what is around them is put into the form by itself.
 */
export function normalForm(text: string, form: 'NFC' | 'NFKD'): string {
  return text
    .split(MANY_MARKS)
    .map((part, n) => (n % 2 === 0 ? part.normalize(form) : part))
    .join('');
}
