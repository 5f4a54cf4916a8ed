/** Isomorphism of graphs, compared with a search through all permutations. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf } from '../../../tests/support/process/errors.ts';
import {
  areIsomorphic,
  isIsomorphism,
  ring,
  shuffledGraph,
  smallGraphs,
} from '../testing/naive-graphs.ts';
import { differencesOf } from './differences.ts';
import type { Graph } from './graph.ts';
import { matchingOf } from './matching.ts';

const STEPS = 10_000;
const orders = (graph: Graph): fc.Arbitrary<number[]> => {
  const nodes = [...graph.nodes.keys()];
  return fc.shuffledSubarray(nodes, { minLength: nodes.length });
};

test('a shuffled graph is isomorphic, and the mapping keeps every edge', () => {
  const shuffled = smallGraphs.chain((graph) =>
    orders(graph).map((order) => [graph, shuffledGraph(graph, order)] as const),
  );
  fc.assert(
    fc.property(shuffled, ([a, b]) => {
      const found = matchingOf(a, b, STEPS);
      return found !== undefined && isIsomorphism(a, b, found);
    }),
  );
});

test('two graphs are isomorphic if and only if a permutation says so', () => {
  const both = { yes: 0, no: 0 };
  // One edge is moved, so that most pairs differ in little.
  const pairs = smallGraphs.chain((graph) =>
    fc.tuple(orders(graph), fc.nat(), fc.nat()).map(([order, which, where]) => {
      const other = shuffledGraph(graph, order);
      const edges = other.edges.map((edge, i) =>
        i === which % other.edges.length ? { ...edge, to: where % other.nodes.length } : edge,
      );
      const keys = edges.map(({ kind, from, to }) => `${kind} ${from} ${to}`);
      return [
        graph,
        { ...other, edges: edges.filter((_, i) => keys.indexOf(keys[i] as string) === i) },
      ] as const;
    }),
  );
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      const found = matchingOf(a, b, STEPS);
      both[found === undefined ? 'no' : 'yes']++;
      expect(found !== undefined).toBe(areIsomorphic(a, b));
      if (found !== undefined) expect(isIsomorphism(a, b, found)).toBe(true);
    }),
    { numRuns: 300 },
  );
  expect(Math.min(both.yes, both.no)).toBeGreaterThan(20);
});

test('refinement alone does not decide: one circle of six, two of three', () => {
  expect(matchingOf(ring(6), ring(3, 3), STEPS)).toBeUndefined();
  expect(differencesOf(ring(6), ring(3, 3))).toEqual([
    'all nodes have counterparts with the same surroundings, and still no mapping keeps all edges',
  ]);
  expect(isIsomorphism(ring(6), ring(6), matchingOf(ring(6), ring(6), STEPS) ?? [])).toBe(true);
});

test('the search ends at its bound with an error', () => {
  // The first step chooses, and each of the three candidates is one more.
  expect(matchingOf(ring(3), ring(3), 2)).toBeDefined();
  expect(errorOf(() => matchingOf(ring(6), ring(3, 3), 6))).toMatchObject({
    code: 'too_symmetric',
    evidence: { steps_max: 6 },
  });
  expect(matchingOf(ring(6), ring(3, 3), 7)).toBeUndefined();
});

const graphOf = (edges: readonly (readonly [kind: string, from: number, to: number])[]): Graph => ({
  nodes: ['lend', 'buy', 'loans', 'funds'].map((name, i) => ({
    kind: i < 2 ? 'process' : 'component',
    name,
  })),
  edges: edges.map(([kind, from, to]) => ({ kind, from, to })),
});

test('the explanation names kinds, then edges, then the first class', () => {
  const plain = graphOf([
    ['writes', 0, 2],
    ['writes', 1, 3],
  ]);
  expect(differencesOf(plain, { ...plain, nodes: plain.nodes.slice(0, 3) })).toEqual([
    '2 components and 1',
  ]);
  expect(differencesOf(plain, { ...plain, edges: plain.edges.slice(0, 1) })).toEqual([
    '2 edges ‘writes’ and 1',
  ]);
  const both = graphOf([
    ['writes', 0, 2],
    ['writes', 1, 2],
  ]);
  expect(differencesOf(plain, both)).toEqual(['0 components and 1 (funds) with no edge']);
  expect(differencesOf(both, plain)).toEqual(['1 component (funds) and 0 with no edge']);
});

test('the explanation of any two graphs is of a difference that is there', () => {
  fc.assert(
    fc.property(smallGraphs, smallGraphs, (a, b) => {
      if (areIsomorphic(a, b)) return;
      const [first] = differencesOf(a, b) as [string];
      const numbers = /^(\d+) .*? and (\d+)(?= with|$| \()/.exec(first);
      if (numbers !== null) expect(numbers[1]).not.toBe(numbers[2]);
      else expect(first).toContain('no mapping keeps all edges');
    }),
  );
});
