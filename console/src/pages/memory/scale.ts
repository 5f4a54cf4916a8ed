import { OPEN_END, OPEN_START } from '../../parts/times.ts';

/** A tick of an axis. */
export interface Tick {
  readonly at: number;
  readonly date: string;
  /** Empty if all ticks are at midnight. */
  readonly time: string;
}

/** An axis on which each change takes the same space, however near or far the next one is. */
export interface Scale {
  readonly steps: number;
  readonly ticks: readonly Tick[];
  /** A number of steps from the start, for any instant. */
  readonly at: (instant: string) => number;
}

/** The axis of periods. It begins or ends with a free step if one of them has no such end. */
export function scaleOf(periods: readonly { readonly from: string; readonly to: string }[]): Scale {
  const all = periods.flatMap(({ from, to }) => [from, to]);
  const borders = [...new Set(all)]
    .filter((instant) => instant !== OPEN_START && instant !== OPEN_END)
    .sort();
  const first = all.includes(OPEN_START) ? 1 : 0;
  const steps = Math.max(1, first + borders.length - 1 + (all.includes(OPEN_END) ? 1 : 0));
  const at = (instant: string): number => {
    if (instant === OPEN_START) return 0;
    if (instant === OPEN_END) return steps;
    const next = borders.findIndex((border) => border >= instant);
    if (borders[next] === instant) return first + next;
    if (next === -1) return Math.min(steps, first + borders.length - 0.5);
    if (next === 0) return Math.max(0, first - 0.5);
    const [low = 0, high = 0] = [borders[next - 1], borders[next]].map((border) =>
      Date.parse(border as string),
    );
    const part = high === low ? 0.5 : (Date.parse(instant) - low) / (high - low);
    return first + next - 1 + part;
  };
  const times = timesOf(borders);
  const ticks = borders.map((border, n) => ({
    at: first + n,
    date: border.slice(0, 10),
    time: times[n] as string,
  }));
  return { steps, ticks, at };
}

/** The lengths of a time of day: minutes, seconds, milliseconds, microseconds. */
const LENGTHS = [16, 19, 23, 26];

/** The times of day, as exact as the ticks need to differ. */
function timesOf(borders: readonly string[]): string[] {
  if (borders.every((border) => border.endsWith('T00:00:00.000000Z'))) return borders.map(() => '');
  const areApart = (length: number) =>
    new Set(borders.map((border) => border.slice(0, length))).size === borders.length;
  const length = LENGTHS.find(areApart) ?? 26;
  return borders.map((border) => border.slice(11, length));
}
