/** The clever pieces of ontology-first design, each beside a naive one. */
import { stripTypeScriptTypes } from 'node:module';
import { isAssizeError, type Json } from 'assize/internal/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { naiveDiff, rfc6902 } from '../../../tests/support/models/naive-patch.ts';
import { LIBRARY } from '../../../tests/support/process/guide-files.ts';
import {
  type Clustering,
  cluster,
  type Division,
  OVERLAP_MIN,
  type ProcessFootprint,
} from '../cluster.ts';
import { check, deriveRoles, draw, type Ontology, parse, scaffold } from '../index.ts';
import { mergeUnchecked } from '../merge-unchecked.ts';

const COMPONENTS = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

const processes: fc.Arbitrary<ProcessFootprint[]> = fc
  .array(fc.subarray([...COMPONENTS], { minLength: 1 }), { minLength: 1, maxLength: 7 })
  .map((list) => list.map((touches, i) => ({ name: `p${i}`, touches: new Set<string>(touches) })));

const pairs = (count: number): fc.Arbitrary<(readonly [string, string])[]> =>
  fc.array(
    fc
      .tuple(fc.nat(count - 1), fc.nat(count - 1))
      .filter(([a, b]) => a !== b)
      .map(([a, b]) => [`p${a}`, `p${b}`] as const),
    { maxLength: count > 1 ? 2 : 0 },
  );

const clustered = processes.chain((list) =>
  fc.record({
    list: fc.constant(list),
    apart: list.length > 1 ? pairs(list.length) : fc.constant([]),
    together: list.length > 1 ? pairs(list.length) : fc.constant([]),
    threshold: fc.constantFrom(0, 0.2, OVERLAP_MIN, 0.8, 1, 1.1),
  }),
);

/** The overlap of two groups by its definition, computed from the processes each time. */
function overlap(
  list: readonly ProcessFootprint[],
  one: readonly string[],
  other: readonly string[],
): number {
  const weight = (names: readonly string[]): number =>
    names
      .map((name) => Math.log(list.length / list.filter(({ touches }) => touches.has(name)).length))
      .reduce((a, b) => a + b, 0);
  const touches = (name: string): string[] => [
    ...(list.find((process) => process.name === name)?.touches ?? []),
  ];
  let sum = 0;
  for (const a of one)
    for (const b of other) {
      const least = Math.min(weight(touches(a)), weight(touches(b)));
      sum +=
        least < 1e-12 ? 1 : weight(touches(a).filter((name) => touches(b).includes(name))) / least;
    }
  return sum / one.length / other.length;
}

const sides = (groups: readonly (readonly string[])[]) =>
  groups.flatMap((one, i) => groups.slice(i + 1).map((other) => [one, other] as const));

const isApart = ({ apart }: Division, one: readonly string[], other: readonly string[]): boolean =>
  [...apart, ...apart.map(([a, b]) => [b, a] as const)].some(
    ([a, b]) => one.includes(a) && other.includes(b),
  );

describe('clustering', () => {
  const EPSILON = 1e-8;

  /** Follows the reported merges, and checks that each had the greatest overlap. */
  function retrace(
    list: readonly ProcessFootprint[],
    division: Division,
    { merges }: Clustering,
  ): (readonly string[])[] {
    let groups: (readonly string[])[] = list.map(({ name }) => [name]);
    for (const { left, right, overlap: told } of merges) {
      expect(groups).toContainEqual(left);
      expect(groups).toContainEqual(right);
      if (told !== undefined) {
        expect(told).toBeCloseTo(overlap(list, left, right), 6);
        const free = sides(groups).filter(([one, other]) => !isApart(division, one, other));
        for (const [one, other] of free)
          expect(overlap(list, one, other)).toBeLessThan(told + EPSILON);
      }
      groups = [
        ...groups.filter((group) => `${group}` !== `${left}` && `${group}` !== `${right}`),
        [...left, ...right],
      ];
    }
    return groups;
  }

  test('each merge has the top overlap; no remaining pair reaches the threshold', () => {
    fc.assert(
      fc.property(clustered, ({ list, apart, together, threshold }) => {
        const division = { apart, together };
        const found = cluster(list, division, threshold);
        const groups = retrace(list, division, found);
        const sorted = (lists: readonly (readonly string[])[]): string[] =>
          lists.map((group) => [...group].sort().join()).sort();
        expect(sorted(found.groups)).toEqual(sorted(groups));
        for (const [one, other] of sides(found.groups)) {
          if (isApart(division, one, other)) continue;
          expect(overlap(list, one, other)).toBeLessThan(threshold + EPSILON);
        }
        for (const [one, other] of together)
          expect(found.groups.find((group) => group.includes(one))).toContain(other);
      }),
      { numRuns: cases(1_000) },
    );
  });

  test('apart is apart, unless it is said to be together', () => {
    fc.assert(
      fc.property(clustered, ({ list, apart, threshold }) => {
        const { groups } = cluster(list, { apart, together: [] }, threshold);
        for (const [one, other] of apart)
          expect(groups.find((group) => group.includes(one))).not.toContain(other);
      }),
      { numRuns: cases(500) },
    );
  });

  test('an overlap at the threshold is merged, one just below it is not', () => {
    fc.assert(
      fc.property(processes, (list) => {
        const division = { apart: [], together: [] };
        const [first] = cluster(list, division, 0).merges;
        fc.pre(first !== undefined);
        const { overlap: reached = 0 } = first as NonNullable<typeof first>;
        expect(cluster(list, division, reached).merges[0]).toEqual(first);
        expect(cluster(list, division, reached + 1e-6).merges).toEqual([]);
      }),
      { numRuns: cases(500) },
    );
  });

  test('a component that every process touches changes nothing', () => {
    fc.assert(
      fc.property(clustered, ({ list, apart, threshold }) => {
        const common = list.map(({ name, touches }) => ({
          name,
          touches: new Set([...touches, 'common']),
        }));
        const division = { apart, together: [] };
        expect(cluster(common, division, threshold).groups).toEqual(
          cluster(list, division, threshold).groups,
        );
      }),
      { numRuns: cases(500) },
    );
  });
});

describe('putting changes together', () => {
  const state = fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.dictionary(fc.constantFrom('x', 'y'), fc.nat(9)),
    {
      maxKeys: 3,
    },
  );

  test('the changes of one proposal are applied as RFC 6902 states', () => {
    fc.assert(
      fc.property(state, state, (was, now) => {
        const operations = naiveDiff(was as never, now as never);
        expect(mergeUnchecked(was as Json, operations as never, [])).toEqual(
          rfc6902(was as never, operations),
        );
      }),
      { numRuns: cases(500) },
    );
  });

  test('changes of different places come to the same in either order', () => {
    fc.assert(
      fc.property(state, state, state, (was, one, other) => {
        const first = naiveDiff(
          was as never,
          { ...one, b: was['b'] ?? {}, c: was['c'] ?? {} } as never,
        );
        const second = naiveDiff(
          was as never,
          { ...other, a: was['a'] ?? {}, ...(was['c'] && { c: was['c'] }) } as never,
        );
        const apart = first.every(
          ({ path }) =>
            !second.some((operation) => operation.path.slice(0, 2) === path.slice(0, 2)),
        );
        fc.pre(apart);
        const both = mergeUnchecked(was as Json, first as never, second as never);
        expect(both).toEqual(mergeUnchecked(was as Json, second as never, first as never));
      }),
      { numRuns: cases(500) },
    );
  });

  test('lists that both create are combined; a removed value cannot be changed', () => {
    const add = (path: string, value: Json) => [{ op: 'add' as const, path, value }];
    expect(mergeUnchecked({}, add('/log', [1]), add('/log', [2]))).toEqual({ log: [1, 2] });
    expect(mergeUnchecked({ log: [0] }, add('/log/1', 1), add('/log/1', 2))).toEqual({
      log: [0, 2, 1],
    });
    expect(mergeUnchecked({ of: {} }, add('/of/ann', { a: 1 }), add('/of/ann', { b: 2 }))).toEqual({
      of: { ann: { a: 1, b: 2 } },
    });
    const gone = [{ op: 'remove' as const, path: '/a' }];
    expect(
      mergeUnchecked({ a: 1 }, gone, [{ op: 'replace', path: '/a', value: 2 }]),
    ).toBeUndefined();
    expect(mergeUnchecked({ a: 1 }, gone, gone)).toBeUndefined();
  });
});

const library = parse(LIBRARY);
const words = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '<script>alert(1)</script>',
    '</style>',
    '&amp;',
    '"\'',
    '*/',
    '`1`',
    '\\',
    '\n',
    '\u0000',
    '\ud800',
    '図書館',
  ),
);

/** The library with arbitrary names, labels and definitions. */
const worded: fc.Arbitrary<Ontology> = fc
  .tuple(words, words, fc.oneof(words, fc.constant('A long title. '.repeat(40).trim())), words)
  .map(([label, definition, title, name]) => ({
    ...library,
    title,
    components: library.components.map((one) => ({
      ...one,
      label: label || 'x',
      definition: definition || 'x',
    })),
    processes: library.processes.map((one, i) => ({
      ...one,
      process: `${name}${i}`,
      definition: definition || 'x',
    })),
    rules: library.rules.map((one, i) => ({
      ...one,
      rule: `${name}${i}`,
      definition: definition || 'x',
    })),
  }));

describe('a picture', () => {
  /** The elements of a text that is XML; throws where it is not. */
  function elements(
    xml: string,
  ): { name: string; attributes: ReadonlyMap<string, string>; text: string }[] {
    const open: string[] = [];
    const found: { name: string; attributes: ReadonlyMap<string, string>; text: string }[] = [];
    let at = 0;
    for (const match of xml.matchAll(/<(\/?)([a-z]+)((?: [a-zA-Z]+="[^"<&]*")*)(\/?)>/g)) {
      const between = xml.slice(at, match.index);
      if (/[<>]/.test(between) || /&(?!#\d+;)/.test(between))
        throw new Error(`not escaped: ${between}`);
      at = match.index + match[0].length;
      const [, closing, name = '', attributes = '', empty] = match;
      if (closing === '/') {
        if (open.pop() !== name) throw new Error(`${name} was not open`);
        (found.findLast((one) => one.name === name) as { text: string }).text = between;
        continue;
      }
      const named = new Map(
        [...attributes.matchAll(/ ([a-zA-Z]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
          key,
          value,
        ]),
      );
      found.push({ name, attributes: named, text: '' });
      if (empty !== '/') open.push(name);
    }
    if (open.length > 0 || xml.slice(at).trim() !== '') throw new Error('it does not end');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what XML 1.0 does not have
    if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]|\p{Cs}/u.test(xml))
      throw new Error('letters that XML does not have');
    return found;
  }

  const number = (of: ReadonlyMap<string, string>, name: string): number => Number(of.get(name));

  test('it is well-formed for any words, and equal for equal ontologies', () => {
    fc.assert(
      fc.property(worded, (ontology) => {
        const picture = draw(ontology);
        expect(elements(picture).map(({ name }) => name)).toContain('path');
        expect(draw(structuredClone(ontology))).toBe(picture);
      }),
      { numRuns: cases(200) },
    );
  });

  test('no box lies across another one, and no text leaves its own', () => {
    fc.assert(
      fc.property(worded, (ontology) => {
        const all = elements(draw(ontology));
        const page = all.find(({ name }) => name === 'svg')!.attributes;
        const boxes = all
          .filter(
            ({ name, attributes }) =>
              name === 'rect' && !['page', 'inner', 'role'].includes(attributes.get('class')!),
          )
          .map(({ attributes: of }) => ({
            left: number(of, 'x'),
            top: number(of, 'y'),
            right: number(of, 'x') + number(of, 'width'),
            bottom: number(of, 'y') + number(of, 'height'),
          }));
        expect(boxes).toHaveLength(4 + 5 + 6);
        for (const [i, a] of boxes.entries())
          for (const b of boxes.slice(i + 1))
            expect(
              a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top,
            ).toBe(true);
        for (const { attributes: of, text } of all.filter(({ name }) => name === 'text')) {
          const [x, y] = [number(of, 'x'), number(of, 'y')];
          const width = [...text.replace(/&#\d+;/g, '.')].length * 7;
          const home = boxes.find(
            ({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom,
          );
          expect(x + width).toBeLessThanOrEqual(home?.right ?? number(page, 'width'));
        }
      }),
      { numRuns: cases(200) },
    );
  });

  test('cross-cutting rules stand out, and every element is drawn', () => {
    const all = elements(draw(library));
    const kinds = (kind: string): number =>
      all.filter(({ attributes }) => attributes.get('class') === kind).length;
    expect({
      crossing: kinds('crossing'),
      rule: kinds('rule'),
      component: kinds('component'),
      role: kinds('role'),
    }).toEqual({
      crossing: 2,
      rule: 4,
      component: 5,
      role: 3,
    });
    expect({ reads: kinds('reads'), writes: kinds('writes'), refers: kinds('refers') }).toEqual({
      reads: 2,
      writes: 6,
      refers: 9,
    });
  });
});

test('the meta-agent gets proposals; a queue is drawn where a rule escalates', () => {
  const classes = (picture: string, kind: string): number =>
    picture.split(`class="${kind}"`).length - 1;
  const picture = draw(library);
  for (const words of [
    'Meta-agent: invariants, in order',
    'Ledger',
    'proposals',
    'slices of the new state',
  ])
    expect(picture).toContain(`>${words}</text>`);
  expect(picture).toMatch(
    />Counselor queue<\/text>[\s\S]*>librarian decides:<\/text>[\s\S]*> {2}LONG_LOANS<\/text>/,
  );
  expect([classes(picture, 'meta'), classes(picture, 'queue'), classes(picture, 'tip')]).toEqual([
    2, 1, 5,
  ]);
  const alone = draw({
    ...library,
    rules: library.rules.filter(({ onFailure }) => onFailure === 'reject'),
  });
  expect([classes(alone, 'meta'), classes(alone, 'queue'), classes(alone, 'tip')]).toEqual([
    2, 0, 3,
  ]);
  expect(alone).not.toContain('Counselor queue');
});

test('a scaffold is valid TypeScript for any words', () => {
  fc.assert(
    fc.property(worded, (ontology) => {
      for (const [file, text] of scaffold(ontology))
        if (file.endsWith('.ts')) stripTypeScriptTypes(text);
    }),
    { numRuns: cases(200) },
  );
});

test('any text is parsed, or refused with an error of the package', () => {
  const lines = LIBRARY.split('\n');
  const cut = fc
    .tuple(fc.nat(lines.length), fc.nat(lines.length), fc.string())
    .map(([from, to, text]) => [...lines.slice(0, from), text, ...lines.slice(to)].join('\n'));
  fc.assert(
    fc.property(fc.oneof(cut, fc.string({ unit: 'binary' })), (text) => {
      try {
        const ontology = parse(text);
        const errors = check(ontology).filter(({ severity }) => severity === 'error');
        if (errors.length > 0) return;
        deriveRoles(ontology);
        draw(ontology);
        scaffold(ontology);
      } catch (error) {
        if (!isAssizeError(error)) throw error;
      }
    }),
    { numRuns: cases(1_000) },
  );
});
