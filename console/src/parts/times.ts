/** The first and the last instant stand for a period without that end. */
export const OPEN_START = '0000-01-01T00:00:00.000000Z';
export const OPEN_END = '9999-12-31T00:00:00.000000Z';

const WHOLE = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
});
const SHORT = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
});
const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** The reader's time with its zone: `28 Nov 2026, 14:05:36 CET`. */
export function localInstant(instant: string): string {
  return WHOLE.format(new Date(instant));
}

/** The reader's time in a row: `14:05:36` of today, `28 Nov, 14:05` of this year. */
export function rowInstant(instant: string, now: Date): string {
  const at = new Date(instant);
  if (at.toDateString() === now.toDateString()) return CLOCK.format(at);
  return at.getFullYear() === now.getFullYear() ? SHORT.format(at) : localInstant(instant);
}

/** The reader's time and that of the ledger, for a tooltip. */
export function bothInstants(instant: string): string {
  return `${localInstant(instant)}, ${instant}`;
}

/** An instant in UTC to the second. Midnight is only its date. */
export function shortInstant(instant: string): string {
  const [date = '', time = ''] = instant.replace('Z', '').split('T');
  return time.startsWith('00:00:00') ? date : `${date} ${time.slice(0, 8)}`;
}

/** A period in words: `since 2026-04-01`. Default of `say`: in UTC, as facts are true in it. */
export function periodText(from: string, to: string, say = shortInstant): string {
  if (from === OPEN_START) return to === OPEN_END ? 'at all times' : `until ${say(to)}`;
  if (to === OPEN_END) return `since ${say(from)}`;
  const [start, end] = [say(from), say(to)];
  return start === end
    ? `from ${exactInstant(from)} to ${exactInstant(to)}`
    : `from ${start} to ${end}`;
}

/** An instant in UTC to the millisecond. */
function exactInstant(instant: string): string {
  return instant.slice(0, 23).replace('T', ' ');
}
