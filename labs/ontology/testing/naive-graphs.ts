import fc from 'fast-check';
import type { Graph } from '../comparison/graph.ts';

/** Graphs of up to five nodes, with two kinds of nodes and two of edges. */
export const smallGraphs: fc.Arbitrary<Graph> = fc.integer({ min: 1, max: 5 }).chain((size) => {
  const node = fc.integer({ min: 0, max: size - 1 });
  const edge = fc.record({ kind: fc.constantFrom('reads', 'writes'), from: node, to: node });
  return fc.record({
    nodes: fc
      .array(fc.constantFrom('process', 'component'), { minLength: size, maxLength: size })
      .map((kinds) => kinds.map((kind, i) => ({ kind, name: `n${i}` }))),
    edges: fc.uniqueArray(edge, {
      maxLength: 9,
      selector: ({ kind, from, to }) => `${kind} ${from} ${to}`,
    }),
  });
});

/** The graph with its nodes in another order, other names, and its edges in another order. */
export function shuffledGraph({ nodes, edges }: Graph, order: readonly number[]): Graph {
  const place = (node: number): number => order.indexOf(node);
  return {
    nodes: order.map((node, i) => ({ kind: nodes[node]?.kind as string, name: `other ${i}` })),
    edges: edges
      .map(({ kind, from, to }) => ({ kind, from: place(from), to: place(to) }))
      .reverse(),
  };
}

/** Whether a mapping is one to one and keeps kinds and edges, node by node and edge by edge. */
export function isIsomorphism(a: Graph, b: Graph, mapping: readonly number[]): boolean {
  if (a.nodes.length !== b.nodes.length || a.edges.length !== b.edges.length) return false;
  if (new Set(mapping).size !== a.nodes.length) return false;
  return (
    a.nodes.every(({ kind }, i) => b.nodes[mapping[i] as number]?.kind === kind) &&
    a.edges.every(({ kind, from, to }) =>
      b.edges.some(
        (edge) => edge.kind === kind && edge.from === mapping[from] && edge.to === mapping[to],
      ),
    )
  );
}

/** Whether some permutation is an isomorphism. */
export function areIsomorphic(a: Graph, b: Graph): boolean {
  if (a.nodes.length !== b.nodes.length) return false;
  return permutations([...b.nodes.keys()]).some((mapping) => isIsomorphism(a, b, mapping));
}

export function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, i) =>
    permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]),
  );
}

/** Circles of processes: `ring(6)` and `ring(3, 3)` look alike from every node. */
export function ring(...sizes: readonly number[]): Graph {
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((a, b) => a + b, 0));
  return {
    nodes: sizes.flatMap((size, i) =>
      Array.from({ length: size }, (_, n) => ({ kind: 'process', name: `${i} ${n}` })),
    ),
    edges: sizes.flatMap((size, i) =>
      Array.from({ length: size }, (_, n) => ({
        kind: 'reads',
        from: (starts[i] as number) + n,
        to: (starts[i] as number) + ((n + 1) % size),
      })),
    ),
  };
}
