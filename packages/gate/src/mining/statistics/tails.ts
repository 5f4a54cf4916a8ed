/**
 * Tails of distributions, for the chance that a rule holds by accident. Sums run in the logarithm,
 * and every result is between 0 and 1.
 */

const LOG_FACTORIALS: number[] = [0, 0];

function logFactorial(n: number): number {
  for (let i = LOG_FACTORIALS.length; i <= n; i++)
    LOG_FACTORIALS.push((LOG_FACTORIALS[i - 1] as number) + Math.log(i));
  return LOG_FACTORIALS[n] as number;
}

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

/** The probability of at most `most` hits in `n` independent trials with probability `p` each. */
export function binomialAtMost(n: number, p: number, most: number): number {
  if (most >= n) return 1;
  let sum = 0;
  for (let k = 0; k <= most; k++)
    sum += Math.exp(logChoose(n, k) + times(k, Math.log(p)) + times(n - k, Math.log1p(-p)));
  return Math.min(1, sum);
}

/** 0 for no repetition, also of an impossible event. */
function times(count: number, log: number): number {
  return count === 0 ? 0 : count * log;
}

/**
 * The probability of at most `most` marked items in `drawn` items, drawn without replacement from
 * `all` items with `marked` marked ones (Fisher's exact test).
 */
export function hypergeometricAtMost(
  all: number,
  marked: number,
  drawn: number,
  most: number,
): number {
  const least = Math.max(0, drawn - (all - marked));
  const total = logChoose(all, drawn);
  let sum = 0;
  for (let k = least; k <= Math.min(most, marked, drawn); k++)
    sum += Math.exp(logChoose(marked, k) + logChoose(all - marked, drawn - k) - total);
  return Math.min(1, sum);
}

/** Same, for at least `least` marked items. */
export function hypergeometricAtLeast(
  all: number,
  marked: number,
  drawn: number,
  least: number,
): number {
  return hypergeometricAtMost(all, all - marked, drawn, drawn - least);
}

/** The probability of at least `least` hits in independent trials with these probabilities. */
export function poissonBinomialAtLeast(probabilities: readonly number[], least: number): number {
  // Misses are few where a rule holds, so their number is walked.
  const most = probabilities.length - least;
  if (most < 0) return 0;
  const misses = new Float64Array(most + 1);
  misses[0] = 1;
  for (const p of probabilities)
    for (let n = most; n >= 0; n--)
      misses[n] = (misses[n] as number) * p + (n === 0 ? 0 : (misses[n - 1] as number) * (1 - p));
  return Math.min(
    1,
    misses.reduce((sum, chance) => sum + chance, 0),
  );
}

/**
 * The largest p-value that the procedure of Benjamini and Hochberg accepts (Journal of the Royal
 * Statistical Society B 57, 1995): among the accepted ones, the expected share that holds by chance
 * is at most `rate`. `tested` counts all hypotheses. 0 if none is accepted.
 */
export function acceptedUpTo(pValues: readonly number[], tested: number, rate: number): number {
  const sorted = [...pValues].sort((a, b) => a - b);
  return sorted.findLast((p, i) => p <= (rate * (i + 1)) / tested) ?? 0;
}

/**
 * The probability that a normal value is within `x` times √2 standard deviations of its mean, for
 * `x` from 0. The error is below 1.5e-7 (Abramowitz and Stegun, Handbook of Mathematical Functions,
 * 7.1.26).
 */
export function errorFunction(x: number): number {
  const t = 1 / (1 + 0.3275911 * x);
  const factors = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  const sum = factors.reduce((rest, factor) => rest * t + factor, 0);
  return 1 - sum * t * Math.exp(-x * x);
}
