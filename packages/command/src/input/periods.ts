import { isAssizeError } from 'assize/internal/base';
import { type Instant, parseInstant } from 'assize/internal/canon';
import { OPEN_END, OPEN_START } from 'assize/internal/ledger';
import { type Period, period } from 'assize/internal/memory';
import { InvalidArgumentError } from 'commander';

/** For the help of commands that accept instants of facts. */
export const INSTANT_HELP =
  'An instant is 2026-03-01T09:00:00Z, or a day such as 2026-03-01 for its start in UTC. A period excludes its end.';

/** An instant, or the start of a day in UTC. */
export function instantOrDay(text: string): Instant {
  try {
    return parseInstant(text);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new InvalidArgumentError(
      'It must be an instant such as 2026-03-01T09:00:00Z, or a day such as 2026-03-01.',
    );
  }
}

export function instantOrAny(text: string): Instant | 'any' {
  return text === 'any' ? text : instantOrDay(text);
}

/** The start of a period. `open` means no start. */
export function beginning(text: string): Instant {
  return text === 'open' ? OPEN_START : instantOrDay(text);
}

/** The end of a period. `open` means no end. */
export function ending(text: string): Instant {
  return text === 'open' ? OPEN_END : instantOrDay(text);
}

/** `FROM/TO`, each an instant, a day, or `open`. */
export function periodOf(text: string): Period {
  const [from, to, ...more] = text.split('/');
  if (from === undefined || to === undefined || more.length > 0)
    throw new InvalidArgumentError(
      'It must be FROM/TO, such as 2026-03-01/2026-04-01. Use open for no start or no end.',
    );
  try {
    return period(beginning(from), ending(to));
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new InvalidArgumentError(error.message);
  }
}

/** `2026-03-01 to open`, in the shortest form. */
export function periodText(from: Instant, to: Instant): string {
  return `${instantText(from)} to ${instantText(to)}`;
}

export function instantText(at: Instant): string {
  if (at === OPEN_START || at === OPEN_END) return 'open';
  return at.endsWith('T00:00:00.000000Z')
    ? at.slice(0, 10)
    : at.replace(/\.?0*Z$/, 'Z').replace(/T(\d\d:\d\d)Z$/, 'T$1:00Z');
}
