import {
  type Hypothesis,
  isTestable,
  type KindOptions,
  type Mine,
  mayBreak,
  OUTSIDE,
} from '../hypothesis.ts';
import { binomialAtMost } from '../statistics/tails.ts';
import { type Observed, observed } from './observed.ts';
import { VALUES_MAX } from './values.ts';

/**
 * Paths, URLs and names with parts that begin alike, and have more values than a list would have.
 *
 * Chance: the null hypothesis is that each run steps outside the prefix with probability `OUTSIDE`.
 * The runs after the one that made the prefix as short as it is are the trials.
 */
export const minePrefixes: Mine = (runs, options) => {
  const places = observed(runs).filter(
    ({ of, byRun }) =>
      of === 'value' &&
      byRun.length >= options.minSupport &&
      isTestable((1 - OUTSIDE) ** (byRun.length - 1)) &&
      byRun.every((values) => values.every((value) => typeof value === 'string')),
  );
  const many = places.filter(({ byRun }) => new Set(byRun.flat()).size > VALUES_MAX);
  return { tested: many.length, hypotheses: many.flatMap((place) => prefixOf(place, options)) };
};

function prefixOf({ tool, path, byRun }: Observed, options: KindOptions): Hypothesis[] {
  const shared = byRun.map((values) => (values as string[]).reduce(commonStart));
  const needed = byRun.length - mayBreak(byRun.length, options);
  const prefix = longestOf(shared, needed);
  if (prefix === undefined) return [];
  const outside = shared.flatMap((each, index) => (each.startsWith(prefix) ? [] : [index]));
  const settled = settledAt(shared, prefix);
  const later = outside.filter((index) => index > settled).length;
  const p = binomialAtMost(byRun.length - 1 - settled, OUTSIDE, later);
  return [{ rule: { kind: 'prefix', tool, path, prefix }, p }];
}

function commonStart(a: string, b: string): string {
  let end = 0;
  while (end < a.length && a[end] === b[end]) end++;
  return a.slice(0, end);
}

/** The longest prefix with a meaning that at least `needed` of the texts have. */
function longestOf(texts: readonly string[], needed: number): string | undefined {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const prefix of prefixesOf(text)) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count >= needed)
    .map(([prefix]) => prefix)
    .sort((a, b) => b.length - a.length)[0];
}

/** The prefixes that end with `/` or `:`. A root, or a scheme alone, says nothing. */
function prefixesOf(text: string): string[] {
  return [...text.matchAll(/[/:]/g)]
    .map(({ index }) => text.slice(0, index + 1))
    .filter((prefix) => /[^/:.]/.test(prefix) && !/^[a-z][a-z0-9+.-]*:\/{0,2}$/i.test(prefix));
}

/** The index of the text after which no longer prefix was possible, without texts outside. */
function settledAt(texts: readonly string[], prefix: string): number {
  let start: string | undefined;
  for (const [index, text] of texts.entries()) {
    if (!text.startsWith(prefix)) continue;
    start = start === undefined ? text : commonStart(start, text);
    if (prefixesOf(start).at(-1) === prefix) return index;
  }
  return texts.length - 1;
}
