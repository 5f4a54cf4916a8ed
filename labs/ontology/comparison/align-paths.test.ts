/** The alignment of two paths, compared with all alignments, and the pictures of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf } from '../../../tests/support/process/errors.ts';
import { drawContinuant } from '../draw-continuant.ts';
import { shipped, shippedOntology } from '../testing/shipped-walks.ts';
import { type AlignedSteps, alignPaths } from './align-paths.ts';
import { drawComparison } from './draw-comparison.ts';
import { type HappyPath, happyPath, type PathStep } from './happy-path.ts';
import { isomorphism } from './isomorphism.ts';

const steps: fc.Arbitrary<PathStep[]> = fc.array(
  fc
    .record({
      role: fc.constantFrom('one', 'two'),
      reads: fc.subarray([':A', ':B']),
      writes: fc.subarray([':A', ':B'], { minLength: 1 }),
      preconditions: fc.subarray(['P']),
      isAsking: fc.boolean(),
      passes: fc.constantFrom('alone' as const, 'with a counselor' as const),
    })
    .map(({ isAsking, ...step }) => ({
      ...{ ...step, process: '', rules: step.preconditions },
      escalations: isAsking ? [{ rule: 'E', counselor: 'md' }] : [],
    })),
  { maxLength: 4 },
);
const pathOf = (domain: string, of: readonly PathStep[]): HappyPath => ({
  ...{ domain, continuant: 'thing', beside: [], counselor: 'none', contradictions: [], states: 0 },
  steps: of.map((step, i) => ({ ...step, process: `${domain}${i}` })),
});
const paths = fc.tuple(steps, steps).map(([a, b]) => [pathOf('a', a), pathOf('b', b)] as const);

/** A difference costs 1, and a step of only one path one and a half. */
const costOf = (rows: readonly AlignedSteps[]): number =>
  rows.reduce((sum, { a, b, differences }) => sum + (a && b ? differences.length : 1.5), 0);

/** The traits of a step, by its path: written for the test alone. */
function traits({ steps }: HappyPath, i: number): boolean[] {
  const step = steps[i] as PathStep;
  const written = steps.slice(0, i).flatMap(({ writes }) => writes);
  return [
    step.passes === 'with a counselor',
    step.escalations.length > 0,
    step.preconditions.length > 0,
    i > 0 && steps[i - 1]?.role !== step.role,
    step.reads.some((term) => written.includes(term)),
  ];
}

/** The least cost of any alignment, by trying all. */
function leastCost(a: HappyPath, b: HappyPath, i = 0, j = 0): number {
  if (i === a.steps.length || j === b.steps.length)
    return 1.5 * (a.steps.length - i + b.steps.length - j);
  const [one, other] = [traits(a, i), traits(b, j)];
  const differing = one.filter((has, n) => has !== other[n]).length;
  return Math.min(
    differing + leastCost(a, b, i + 1, j + 1),
    1.5 + leastCost(a, b, i + 1, j),
    1.5 + leastCost(a, b, i, j + 1),
  );
}

test('an alignment has every step once, in order, at the least cost', () => {
  fc.assert(
    fc.property(paths, ([a, b]) => {
      const rows = alignPaths(a, b);
      expect(rows.flatMap((row) => row.a ?? [])).toEqual(a.steps);
      expect(rows.flatMap((row) => row.b ?? [])).toEqual(b.steps);
      expect(rows.every((row) => row.a !== undefined || row.b !== undefined)).toBe(true);
      expect(costOf(rows)).toBe(leastCost(a, b));
    }),
  );
});

test('a path has no difference from itself, and the same differences both ways', () => {
  fc.assert(
    fc.property(paths, ([a, b]) => {
      expect(costOf(alignPaths(a, a))).toBe(0);
      expect(costOf(alignPaths(a, b))).toBe(costOf(alignPaths(b, a)));
    }),
  );
});

test('a difference says which path has the trait', () => {
  const plain: PathStep = {
    ...{ process: '', role: 'one', reads: [], writes: [':A'], preconditions: [], rules: [] },
    ...{ escalations: [], passes: 'alone' },
  };
  const asking: PathStep = { ...plain, escalations: [{ rule: 'E', counselor: 'md' }] };
  expect(alignPaths(pathOf('a', [plain]), pathOf('b', [asking]))[0]?.differences).toEqual([
    { only: 'b', trait: 'may ask a counselor' },
  ]);
  expect(alignPaths(pathOf('a', [asking]), pathOf('b', [plain]))[0]?.differences).toEqual([
    { only: 'a', trait: 'may ask a counselor' },
  ]);
});

test('the picture has all steps and handlers, the mapping, and escaped names', () => {
  const [udt, verification] = [shipped('udt'), shipped('verification')];
  const a = happyPath(udt.ontology, udt.domain, { walk: udt.walk });
  const b = happyPath(verification.ontology, verification.domain, { walk: verification.walk });
  const same = isomorphism(udt.ontology, udt.ontology);
  const picture = drawComparison(a, { ...b, domain: '<b>&' }, same);
  for (const { process } of [...a.steps, ...a.beside, ...b.steps])
    expect(picture).toContain(`>${process}</text>`);
  for (const one of same.mapping) expect(picture).toContain(`>${one.b}</text>`);
  expect(picture).not.toContain('<b>');
  expect(picture).toContain('class="queue back"');
  expect(picture.match(/class="crossing"/g)).toHaveLength(1);
  expect(drawComparison(a, { ...b, domain: '<b>&' }, same)).toBe(picture);
  const differs = isomorphism(udt.ontology, verification.ontology);
  expect(drawComparison(a, b, differs)).toContain('not isomorphic: 3 proposing agents and 5');
});

test('the picture of a continuant has its relations, with an edge to each', () => {
  const picture = drawContinuant(shippedOntology('disclosure'));
  for (const text of [
    'severity',
    'pipeline phase',
    'patch record',
    'ReleaseFix',
    'with receiving organisation',
  ])
    expect(picture).toContain(`>${text}</text>`);
  // 2 qualities, 1 role, 12 processes, 16 kinds of information, and one of two other continuants.
  expect(picture.match(/class="writes"/g)).toHaveLength(2 + 1 + 12 + 16 + 1);
  expect(errorOf(() => drawContinuant({ ...shippedOntology('udt'), processes: [] }))).toMatchObject(
    {
      code: 'unsound',
    },
  );
});
