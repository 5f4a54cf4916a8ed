/** A span of time: from `since` up to, and without, `until`. Both in UTC. */
export interface Span {
  readonly since?: string;
  readonly until?: string;
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const MONTHS =
  'january february march april may june july august september october november december'.split(
    ' ',
  );
const TIME = '(\\d{1,2}):(\\d{2})';
const WORDS = new RegExp(`^(.*?)\\s*(?:${TIME}(?:\\s*(?:to|until|-|–)\\s*${TIME})?)?$`);

/**
 * The span that a person means, by the clock of this browser: `7d`, `yesterday`,
 * `yesterday 14:00 to 14:10`, `14:05`, `28 Nov`, `2026-11-28 09:00 to 12:00`, `last week`,
 * `March`. A time alone is its minute. A time before the first one is of the next day. Undefined:
 * the words are not understood.
 */
export function spanOf(words: string, now: Date): Span | undefined {
  const text = words.trim().toLowerCase();
  const [, count, unit] = /^(?:last\s+)?(\d{1,4})\s*([mhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined)
    return { since: instant(new Date(now.getTime() - Number(count) * (UNITS_MS[unit] as number))) };
  const period = periodOf(text, now);
  if (period !== undefined) return between(...period);
  const [, said = '', hour, minute, endHour, endMinute] = WORDS.exec(text) ?? [];
  const day = said === '' && hour !== undefined ? dayOf('today', now) : dayOf(said, now);
  if (day === undefined) return undefined;
  if (hour === undefined || minute === undefined) return between(day, after(day, 1));
  const from = at(day, hour, minute);
  if (from === undefined) return undefined;
  if (endHour === undefined || endMinute === undefined)
    return between(from, new Date(from.getTime() + 60_000));
  const to = at(day, endHour, endMinute);
  return to && between(from, to > from ? to : after(to, 1));
}

/** The span that the last words of a question name: `how long did Ada stay in March`. */
export function spanAtEndOf(question: string, now: Date): Span | undefined {
  const words = question.replace(/[\s?.!]+$/, '').split(/\s+/);
  return [4, 3, 2, 1]
    .filter((count) => count <= words.length)
    .map((count) => spanOf(words.slice(-count).join(' '), now))
    .find((span) => span !== undefined);
}

/** The first instants of a week or a month that a person names, and of the next one. */
function periodOf(said: string, now: Date): [Date, Date] | undefined {
  const [, which, unit] = /^(this|last) (week|month)$/.exec(said) ?? [];
  const back = which === 'last' ? 1 : 0;
  const [year, month] = [now.getFullYear(), now.getMonth()];
  if (unit === 'week') {
    const monday = new Date(year, month, now.getDate() - ((now.getDay() + 6) % 7) - 7 * back);
    return [monday, after(monday, 7)];
  }
  if (unit === 'month') return [new Date(year, month - back), new Date(year, month - back + 1)];
  const [, name = '', named] = /^([a-z]+)\.?(?:\s+(\d{4}))?$/.exec(said) ?? [];
  const number = monthOf(name);
  if (number === -1) return undefined;
  // Without a year it is the last such month.
  const of = named === undefined ? year - (number > month ? 1 : 0) : Number(named);
  return [new Date(of, number), new Date(of, number + 1)];
}

/** From 0; -1 for another word. */
function monthOf(name: string): number {
  return MONTHS.findIndex((month) => month === name || month.slice(0, 3) === name);
}

/** The first instant of a day that a person names. */
function dayOf(said: string, now: Date): Date | undefined {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  if (said === 'today') return today;
  if (said === 'yesterday') return after(today, -1);
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(said) ?? [];
  if (year !== undefined) return calendarDay(Number(year), Number(month) - 1, Number(date));
  const [, first, name = '', named] =
    /^(\d{1,2})\.?\s+([a-z]+)\.?(?:\s+(\d{4}))?$/.exec(said) ?? [];
  const number = monthOf(name);
  if (first === undefined || number === -1) return undefined;
  const given = (year: number) => calendarDay(year, number, Number(first));
  if (named !== undefined) return given(Number(named));
  const thisYear = given(now.getFullYear());
  // Without a year it is the last such day.
  return thisYear !== undefined && thisYear > now ? given(now.getFullYear() - 1) : thisYear;
}

function calendarDay(year: number, month: number, date: number): Date | undefined {
  const day = new Date(year, month, date);
  return day.getMonth() === month && day.getDate() === date ? day : undefined;
}

function at(day: Date, hour: string, minute: string): Date | undefined {
  if (Number(hour) > 23 || Number(minute) > 59) return undefined;
  return new Date(day.getFullYear(), day.getMonth(), day.getDate(), Number(hour), Number(minute));
}

function after(time: Date, days: number): Date {
  const [hour, minute] = [time.getHours(), time.getMinutes()];
  return new Date(time.getFullYear(), time.getMonth(), time.getDate() + days, hour, minute);
}

function between(from: Date, to: Date): Span {
  return { since: instant(from), until: instant(to) };
}

function instant(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}
