import { useEffect, useState } from 'react';
import { bothInstants, localInstant, rowInstant } from './times.ts';

const FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const TICK_MS = 20_000;

/** An instant as a distance from now: `3 minutes ago`. Its exact time is in the tooltip. */
export function Ago({ at }: { readonly at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={bothInstants(at)}>
      {distance((Date.parse(at) - now) / 1_000)}
    </time>
  );
}

/** An instant in the reader's time with its zone. UTC is in the tooltip. */
export function At({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {localInstant(at)}
    </time>
  );
}

/** The same in a row: short, with the zone and UTC in the tooltip. */
export function RowTime({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={bothInstants(at)}>
      {rowInstant(at, new Date())}
    </time>
  );
}

/** The largest unit in which a distance in seconds is at least one. */
export function distance(seconds: number): string {
  const [unit, size] =
    UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  return FORMAT.format(Math.trunc(seconds / size), unit);
}
