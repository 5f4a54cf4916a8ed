import { InvalidArgumentError } from 'commander';
import { isAssizeError } from '#base';
import { addMicros, type Instant, parseInstant } from '#canon';
import { systemClock } from '#oracle';

const MICROS = { m: 60_000_000, h: 3_600_000_000 } as const;

/** For the help of commands that take an end. */
export const UNTIL_HELP = 'an instant, `90m`, `2h`, or `today`: until the end of the day in the local time zone';

/** The end that a text names, from now on. */
export function untilOf(text: string): Instant {
  if (text === 'today') return endOfToday(systemClock.now());
  const [, digits = '', unit] = /^(\d{1,6})([mh])$/.exec(text) ?? [];
  if (unit !== undefined) return addMicros(systemClock.now(), Number(digits) * MICROS[unit as keyof typeof MICROS]);
  try {
    return parseInstant(text);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new InvalidArgumentError('It must be an instant such as 2026-03-01T18:00:00Z, 90m, 2h, or today.');
  }
}

/** The start of the next day in the local time zone. */
function endOfToday(now: Instant): Instant {
  const day = new Date(now);
  return parseInstant(new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).toISOString());
}
