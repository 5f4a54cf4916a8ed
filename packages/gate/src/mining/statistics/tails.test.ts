/** The tails of distributions against counting every case. */
import { describe, expect, test } from 'vitest';
import {
  acceptedUpTo,
  binomialAtMost,
  errorFunction,
  hypergeometricAtLeast,
  hypergeometricAtMost,
  poissonBinomialAtLeast,
} from './tails.ts';

/** All lists of `n` flags. */
function lists(n: number): boolean[][] {
  return Array.from({ length: 2 ** n }, (_, bits) =>
    Array.from({ length: n }, (__, i) => ((bits >> i) & 1) === 1),
  );
}

const hits = (flags: readonly boolean[]): number => flags.filter(Boolean).length;

describe('a tail is the sum of the cases in it', () => {
  test('of independent trials with different probabilities', () => {
    const chances = [0.1, 0.9, 0.5, 0, 1, 0.3];
    for (let least = 0; least <= 7; least++) {
      const sum = lists(6)
        .filter((flags) => hits(flags) >= least)
        .map((flags) => flags.reduce((p, flag, i) => p * (flag ? chances[i]! : 1 - chances[i]!), 1))
        .reduce((a, b) => a + b, 0);
      expect(poissonBinomialAtLeast(chances, least)).toBeCloseTo(sum, 12);
    }
  });

  test('of independent trials with one probability', () => {
    for (const p of [0, 0.1, 0.5, 1])
      for (let most = 0; most <= 6; most++)
        expect(binomialAtMost(6, p, most)).toBeCloseTo(
          1 - poissonBinomialAtLeast(Array(6).fill(p), most + 1),
          12,
        );
  });

  test('of items drawn without replacement', () => {
    const [all, marked] = [7, 3];
    for (let drawn = 0; drawn <= all; drawn++) {
      const draws = lists(all).filter((flags) => hits(flags) === drawn);
      for (let n = 0; n <= marked; n++) {
        const share = (fits: (found: number) => boolean) =>
          draws.filter((flags) => fits(hits(flags.slice(0, marked)))).length / draws.length;
        expect(hypergeometricAtMost(all, marked, drawn, n)).toBeCloseTo(
          share((found) => found <= n),
          12,
        );
        expect(hypergeometricAtLeast(all, marked, drawn, n)).toBeCloseTo(
          share((found) => found >= n),
          12,
        );
      }
    }
  });
});

test('thousands of trials give a probability', () => {
  expect(binomialAtMost(20_000, 0.1, 1_000)).toBeLessThan(1e-100);
  expect(hypergeometricAtMost(20_000, 10_000, 10_000, 5_000)).toBeCloseTo(0.5, 1);
  expect(poissonBinomialAtLeast(Array(5_000).fill(0.5), 4_990)).toBeGreaterThanOrEqual(0);
});

test('Benjamini and Hochberg accept the largest p-value below their line', () => {
  // The line is 0.05 × rank / 10.
  expect(acceptedUpTo([0.001, 0.012, 0.014, 0.9], 10, 0.05)).toBe(0.014);
  expect(acceptedUpTo([0.9, 0.006], 10, 0.05)).toBe(0);
  expect(acceptedUpTo([], 10, 0.05)).toBe(0);
});

test('the error function is the integral of its density', () => {
  const steps = 20_000;
  for (const x of [0, 0.1, 0.5, 1, 2, 4]) {
    const width = x / steps;
    let sum = 0;
    for (let i = 0; i < steps; i++) sum += Math.exp(-(((i + 0.5) * width) ** 2)) * width;
    expect(errorFunction(x)).toBeCloseTo((2 / Math.sqrt(Math.PI)) * sum, 6);
  }
});
