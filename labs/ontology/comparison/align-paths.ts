import { arg, checkArgument } from 'assize/internal/base';
import type { HappyPath, Passing, PathStep } from './happy-path.ts';

/** A row of two paths side by side: a step of each, or of only one. */
export interface AlignedSteps {
  readonly a?: PathStep;
  readonly b?: PathStep;
  /** The traits that only one of the two steps has. Empty for a step of only one path. */
  readonly differences: readonly TraitDifference[];
}

/** A trait, and the path whose step has it. */
export interface TraitDifference {
  readonly only: 'a' | 'b';
  readonly trait: Trait;
}

/** A step of only one path costs as much as this many differences. */
const ALONE = 1.5;

const COUNSELORS: readonly unknown[] = [
  'on the path',
  'beside',
  'none',
  'open',
] satisfies HappyPath['counselor'][];
const PASSINGS: readonly unknown[] = [
  'alone',
  'with a counselor',
  'not reached',
  'not run',
] satisfies Passing[];
const oneOf = (values: readonly unknown[]) =>
  arg.of(values.join(' or '), (value) => values.includes(value));
const texts = arg.list(arg.text);
const STEP = arg.members({
  process: arg.text,
  role: arg.text,
  ...{ reads: texts, writes: texts, preconditions: texts, rules: texts },
  escalations: arg.list(arg.members({ rule: arg.text, counselor: arg.text })),
  passes: oneOf(PASSINGS),
  by: arg.any,
});
const PATH = arg.members({
  domain: arg.text,
  continuant: arg.text,
  ...{ steps: arg.list(STEP), beside: arg.list(STEP) },
  counselor: oneOf(COUNSELORS),
  contradictions: texts,
  states: arg.whole,
});

/**
 * Two happy paths side by side, in order, with the fewest differences. Steps are compared by their
 * place in the structure and not by their names: a counselor who must or may be asked, a
 * precondition, a handover to another role, and the use of an earlier step's writing.
 *
 * @throws ArgumentError `bad_argument`
 */
export function alignPaths(a: HappyPath, b: HappyPath): AlignedSteps[] {
  checkArgument(PATH, a, 'a');
  checkArgument(PATH, b, 'b');
  const [left, right] = [traitsOf(a.steps), traitsOf(b.steps)];
  const differencesAt = (i: number, j: number): TraitDifference[] =>
    TRAITS.filter((trait) => left[i]?.[trait] !== right[j]?.[trait]).map((trait) => ({
      ...{ only: left[i]?.[trait] === true ? 'a' : 'b', trait },
    }));
  /** By the number of steps left in each path: the least cost. */
  const costs: number[][] = Array.from({ length: left.length + 1 }, () => []);
  const cost = (i: number, j: number): number => costs[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = left.length; i >= 0; i--)
    for (let j = right.length; j >= 0; j--) {
      const both = differencesAt(i, j).length + cost(i + 1, j + 1);
      const end = i === left.length && j === right.length ? 0 : Number.POSITIVE_INFINITY;
      (costs[i] as number[])[j] = Math.min(
        end,
        both,
        ALONE + cost(i + 1, j),
        ALONE + cost(i, j + 1),
      );
    }
  const rows: AlignedSteps[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const [one, other] = [a.steps[i], b.steps[j]];
    const differences = differencesAt(i, j);
    if (
      one !== undefined &&
      other !== undefined &&
      cost(i, j) === differences.length + cost(i + 1, j + 1)
    ) {
      rows.push({ a: one, b: other, differences });
      i++;
      j++;
    } else if (one !== undefined && cost(i, j) === ALONE + cost(i + 1, j)) {
      rows.push({ a: one, differences: [] });
      i++;
    } else if (other !== undefined) {
      rows.push({ b: other, differences: [] });
      j++;
    }
  }
  return rows;
}

const TRAITS = [
  'passes only with a counselor',
  'may ask a counselor',
  'has a precondition',
  'comes from another role',
  'uses an earlier step',
] as const;

export type Trait = (typeof TRAITS)[number];

/** The traits of each step within its path. */
function traitsOf(steps: readonly PathStep[]): Readonly<Record<Trait, boolean>>[] {
  const written = new Set<string>();
  return steps.map((step, i) => {
    const uses = step.reads.some((term) => written.has(term));
    for (const term of step.writes) written.add(term);
    return {
      'passes only with a counselor': step.passes === 'with a counselor',
      'may ask a counselor': step.escalations.length > 0,
      'has a precondition': step.preconditions.length > 0,
      'comes from another role': i > 0 && steps[i - 1]?.role !== step.role,
      'uses an earlier step': uses,
    };
  });
}
