/** The first and the last instant stand for a period without that end. */
export const OPEN_START = '0000-01-01T00:00:00.000000Z';
export const OPEN_END = '9999-12-31T00:00:00.000000Z';

/** An instant in UTC to the second. Midnight is only its date. */
export function shortInstant(instant: string): string {
  const [date = '', time = ''] = instant.replace('Z', '').split('T');
  return time.startsWith('00:00:00') ? date : `${date} ${time.slice(0, 8)}`;
}

/** A period in words: `since 2026-04-01`. */
export function periodText(from: string, to: string): string {
  if (from === OPEN_START) return to === OPEN_END ? 'at all times' : `until ${shortInstant(to)}`;
  if (to === OPEN_END) return `since ${shortInstant(from)}`;
  const [start, end] = [shortInstant(from), shortInstant(to)];
  return start === end
    ? `from ${exactInstant(from)} to ${exactInstant(to)}`
    : `from ${start} to ${end}`;
}

/** An instant in UTC to the millisecond. */
function exactInstant(instant: string): string {
  return instant.slice(0, 23).replace('T', ' ');
}
