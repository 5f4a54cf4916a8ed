import { types } from 'node:util';
import { isInstance } from '#base';
import { CanonError } from './json/canon-error.ts';

/**
 * UTC with microseconds, fixed width, so that text order is time order:
 * `2026-03-23T09:00:00.000000Z`. Years 0001 to 9998: year 9999 is reserved for the open end of a
 * period.
 */
export type Instant = string;

/**
 * A time as a caller may give it: a `Date`; an ISO 8601 text with `Z` or an offset, of any
 * precision; or a day such as `2026-03-23`, meaning its start in UTC. A local time without an
 * offset is refused. Records have the `Instant`.
 */
export type Time = Instant | Date;

const LENGTH = '2026-03-23T09:00:00.000000Z'.length;
const MILLIS_MIN = Date.parse('0001-01-01T00:00:00.000Z');
const MILLIS_MAX = Date.parse('9998-12-31T23:59:59.999Z');

/** True for an instant of the calendar: no 30 February, no hour 24, no leap second. */
export function isInstant(text: unknown): text is Instant {
  if (text === lastInstant) return true;
  if (typeof text !== 'string' || text.length !== LENGTH) return false;
  const marks =
    text[4] === '-' &&
    text[7] === '-' &&
    text[10] === 'T' &&
    text[13] === ':' &&
    text[16] === ':' &&
    text[19] === '.';
  if (!marks || text[26] !== 'Z') return false;
  const year = digits(text, 0, 4);
  const fraction = digits(text, 20, 26);
  if (year < 1 || year > 9998 || fraction < 0) return false;
  if (!isDay(year, digits(text, 5, 7), digits(text, 8, 10))) return false;
  if (!isTime(digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19))) return false;
  lastInstant = text;
  return true;
}

/** The last instant created or checked: a proposal's one time is checked in several places. */
let lastInstant: Instant = '1970-01-01T00:00:00.000000Z';

/**
 * The instant of a count of milliseconds since 1970, plus 0 to 999 microseconds.
 *
 * @throws CanonError `bad_instant` for counts that are not whole or are out of range.
 */
export function instantFromMillis(ms: number, micros = 0): Instant {
  if (!Number.isInteger(ms) || ms < MILLIS_MIN || ms > MILLIS_MAX) {
    throw badInstant(ms, 'milliseconds must be whole and in the years 0001 to 9998');
  }
  if (!Number.isInteger(micros) || micros < 0 || micros > 999) {
    throw badInstant(micros, 'microseconds must be whole, 0 to 999');
  }
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = new Date(second * 1000).toISOString().slice(0, 20);
  }
  lastInstant = lastText + THOUSANDTHS[ms - second * 1000]! + LAST_THOUSANDTHS[micros]!;
  return lastInstant;
}

/** A clock is read many times in a second, and formatting the date is its largest cost. */
let lastSecond = Number.NaN;
let lastText = '';
const THOUSANDTHS: readonly string[] = Array.from({ length: 1_000 }, (_, count) =>
  String(count).padStart(3, '0'),
);
const LAST_THOUSANDTHS: readonly string[] = THOUSANDTHS.map((digits) => `${digits}Z`);

/**
 * Milliseconds since 1970. The last three digits of the instant are truncated (toward the past,
 * also before 1970).
 *
 * @throws CanonError `bad_instant` for a text that is not an instant.
 */
export function instantToMillis(instant: Instant): number {
  requireInstant(instant);
  return Date.parse(instant.slice(0, 23) + 'Z');
}

/**
 * The later of the two instants.
 *
 * @throws CanonError `bad_instant` for a text that is not an instant.
 */
export function maxInstant(a: Instant, b: Instant): Instant {
  requireInstant(a);
  requireInstant(b);
  return a < b ? b : a;
}

/**
 * The instant n microseconds later, or earlier if n is negative.
 *
 * @throws CanonError `bad_instant` when n is not a safe integer or the sum leaves the years 0001 to
 * 9998.
 */
export function addMicros(instant: Instant, n: number): Instant {
  const ms = instantToMillis(instant);
  if (!Number.isSafeInteger(n))
    throw badInstant(n, 'a distance must be a whole number of microseconds');
  // Microseconds of the whole calendar exceed 2^53, so the two parts are added separately.
  const micros = digits(instant, 23, 26) + (((n % 1000) + 1000) % 1000);
  return instantFromMillis(ms + Math.floor(n / 1000) + Math.floor(micros / 1000), micros % 1000);
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)$/;

/**
 * The instant of an ISO 8601 text: a date, a time, and a required `Z` or offset. Seconds may be
 * missing. Digits beyond microseconds are truncated. A date alone means its start in UTC.
 *
 * @throws CanonError `bad_instant` for any other text, including dates that do not exist and years
 * out of range.
 */
export function parseInstant(isoText: string): Instant {
  if (isInstant(isoText)) return isoText;
  if (typeof isoText === 'string' && DAY.test(isoText)) return parseInstant(`${isoText}T00:00:00Z`);
  const match = typeof isoText === 'string' ? ISO.exec(isoText) : null;
  if (match === null)
    throw badInstant(
      isoText,
      'write it as 2026-03-23T09:00:00Z, with an offset such as +02:00, or as a day such as 2026-03-23',
    );
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second = '00',
    fraction = '',
    ,
    sign,
    offsetHour = '0',
    offsetMinute = '0',
  ] = match;
  if (!isDay(Number(year), Number(month), Number(day)))
    throw badInstant(isoText, 'there is no such day');
  if (!isTime(Number(hour), Number(minute), Number(second)))
    throw badInstant(isoText, 'there is no such time of day');
  if (!isTime(Number(offsetHour), Number(offsetMinute), 0))
    throw badInstant(isoText, 'there is no such offset');
  const digits6 = fraction.slice(0, 6).padEnd(6, '0');
  const local = Date.parse(
    `${year}-${month}-${day}T${hour}:${minute}:${second}.${digits6.slice(0, 3)}Z`,
  );
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000;
  return instantFromMillis(
    sign === '-' ? local + offset : local - offset,
    Number(digits6.slice(3)),
  );
}

/**
 * The instant of a time in any accepted form (`Time`). Digits beyond microseconds are truncated.
 *
 * @throws CanonError `bad_instant` for any other value: a local time without an offset, a date that
 * does not exist, a leap second, an invalid `Date`, and years out of range.
 */
export function instantOf(time: Time): Instant {
  if (!types.isDate(time)) return parseInstant(time);
  return instantFromMillis(Date.prototype.getTime.call(time));
}

/** The instant of a time in any accepted form (`Time`). Undefined for any other value. */
export function readInstant(given: unknown): Instant | undefined {
  if (isInstant(given)) return given;
  if (typeof given !== 'string' && !types.isDate(given)) return undefined;
  try {
    return instantOf(given);
  } catch (error) {
    if (isInstance(error, CanonError)) return undefined;
    throw error;
  }
}

function requireInstant(text: Instant): void {
  if (!isInstant(text)) throw badInstant(text, 'it must look like 2026-03-23T09:00:00.000000Z');
}

function isDay(year: number, month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isTime(hour: number, minute: number, second: number): boolean {
  return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59;
}

/** The number that the digits from `start` to before `end` write, or −1 if one is not a digit. */
function digits(text: string, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Total: some values have no text. */
function shown(given: unknown): string {
  return typeof given === 'object' || typeof given === 'function' ? typeof given : String(given);
}

function badInstant(given: unknown, why: string): CanonError {
  return new CanonError('bad_instant', '', `The instant is not valid: ${why}.`, {
    evidence: { given: shown(given) },
  });
}
