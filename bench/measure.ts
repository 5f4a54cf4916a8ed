/**
 * Measurement on noisy machines: contenders run in one run, in alternation, and are compared by
 * medians. Absolute figures vary by a third from run to run, but ratios of neighbouring rounds are
 * stable.
 */

/** One figure of a benchmark, with its baseline and its goal. */
export interface BenchResult {
  name: string;
  value: number;
  unit: string;
  baseline?: { name: string; value: number };
  /**
   * Value to baseline, as the median of the rounds' ratios, and not the quotient of the two
   * medians.
   */
  ratio?: number;
  goal?: { min?: number; max?: number; ratioMin?: number; ratioMax?: number };
}

/** A measured contender: `run` executes that many operations, in any order. */
export interface Contender {
  readonly name: string;
  readonly run: (count: number) => void | Promise<void>;
}

export interface RoundOptions {
  /** Number of turns of each contender; odd, so that the median is one of them. */
  readonly rounds?: number;
  /** The approximate duration of a turn. */
  readonly roundMs?: number;
  /**
   * The warm-up time of each contender before any measurement. Default: no time beyond two turns. A
   * warm-up suits operations that go through much code, because a long-running process has that
   * code compiled. A transaction with a tool is twice as fast after 50,000 runs.
   */
  readonly warmMs?: number;
}

/** The result of a contender: operations per second, the median and each round's. */
export interface Rate {
  readonly name: string;
  readonly perSecond: number;
  readonly rounds: readonly number[];
}

const ROUNDS = 15;
const ROUND_MS = 60;

/**
 * Measures contenders in interleaved rounds and returns the rates in the order of the contenders.
 * Each contender first runs for two turns, or longer (`warmMs`), so the compiler has seen it. The
 * starting contender changes from round to round.
 */
export async function compare(
  contenders: readonly Contender[],
  options: RoundOptions = {},
): Promise<Rate[]> {
  const { rounds = ROUNDS, roundMs = ROUND_MS, warmMs = 0 } = options;
  const counts: number[] = [];
  for (const contender of contenders) counts.push(await countFor(contender, roundMs));
  for (const [index, contender] of contenders.entries()) {
    const turns = Math.ceil(warmMs / roundMs);
    await contender.run(counts[index]! * turns);
    if (turns > 0) counts[index] = await countFor(contender, roundMs);
  }
  const rates: number[][] = contenders.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const index = (round + turn) % contenders.length;
      const count = counts[index]!;
      rates[index]!.push(count / ((await timed(contenders[index]!, count)) / 1_000));
    }
  }
  return contenders.map(({ name }, index) => ({
    name,
    perSecond: median(rates[index]!),
    rounds: rates[index]!,
  }));
}

/** The median of the ratios of neighbouring rounds. */
export function ratioOf(rate: Rate, baseline: Rate): number {
  return median(rate.rounds.map((value, round) => value / baseline.rounds[round]!));
}

/** How many operations fill a turn, found by doubling. This warms the code up as well. */
async function countFor(contender: Contender, roundMs: number): Promise<number> {
  let count = 1;
  let ms = await timed(contender, count);
  while (ms < roundMs) {
    count = ms < roundMs / 16 ? count * 4 : Math.ceil((count * roundMs * 1.05) / ms);
    ms = await timed(contender, count);
  }
  return Math.max(1, Math.round((count * roundMs) / (await timed(contender, count))));
}

async function timed(contender: Contender, count: number): Promise<number> {
  const start = performance.now();
  await contender.run(count);
  return performance.now() - start;
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** The nearest-rank percentile, from 0 to 100, of values in any order; NaN when there are none. */
export function percentile(values: readonly number[], p: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)]!;
}

const sink: { value: unknown } = { value: undefined };

/** Consumes a result, so that the compiler cannot remove the work behind it. */
export function keep(value: unknown): void {
  sink.value = value;
}

/** The rate as a result beside its baseline. */
export function rateResult(
  rate: Rate,
  baseline: Rate | undefined,
  goal?: BenchResult['goal'],
): BenchResult {
  const result: BenchResult = { name: rate.name, value: rate.perSecond, unit: '/s' };
  if (baseline !== undefined) {
    result.baseline = { name: baseline.name, value: baseline.perSecond };
    result.ratio = ratioOf(rate, baseline);
  }
  if (goal !== undefined) result.goal = goal;
  return result;
}

/** True if every goal of the result is met, or if it has no goal. */
export function meetsGoal({ value, ratio, goal = {} }: BenchResult): boolean {
  const {
    min = Number.NEGATIVE_INFINITY,
    max = Number.POSITIVE_INFINITY,
    ratioMin,
    ratioMax,
  } = goal;
  const isRatioMet =
    (ratioMin === undefined || (ratio !== undefined && ratio >= ratioMin)) &&
    (ratioMax === undefined || (ratio !== undefined && ratio <= ratioMax));
  return value >= min && value <= max && isRatioMet;
}

/** A plain table for humans. */
export function formatTable(results: readonly BenchResult[]): string {
  const rows = [['what', 'measured', 'baseline', 'ratio', 'goal', ''], ...results.map(rowOf)];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column]!, column))
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}

function rowOf(result: BenchResult): string[] {
  const { name, value, unit, baseline, ratio, goal } = result;
  return [
    name,
    format(value, unit),
    baseline === undefined ? '' : `${format(baseline.value, unit)} ${baseline.name}`,
    ratio === undefined ? '' : ratio.toFixed(2),
    goalText(goal, unit),
    goal === undefined ? '' : meetsGoal(result) ? 'met' : 'MISSED',
  ];
}

function goalText(goal: BenchResult['goal'], unit: string): string {
  const parts: string[] = [];
  if (goal?.min !== undefined) parts.push(`>= ${format(goal.min, unit)}`);
  if (goal?.max !== undefined) parts.push(`<= ${format(goal.max, unit)}`);
  if (goal?.ratioMin !== undefined) parts.push(`ratio >= ${goal.ratioMin}`);
  if (goal?.ratioMax !== undefined) parts.push(`ratio <= ${goal.ratioMax}`);
  return parts.join(', ');
}

function format(value: number, unit: string): string {
  const number =
    Math.abs(value) >= 100
      ? Math.round(value).toLocaleString('en-US')
      : String(Number(value.toPrecision(3)));
  return unit.startsWith('/') ? number + unit : `${number} ${unit}`;
}

/** Numbers to the right, words to the left. */
function pad(cell: string, width: number, column: number): string {
  return column === 1 || column === 3 ? cell.padStart(width) : cell.padEnd(width);
}
