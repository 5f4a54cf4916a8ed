import type { Graph } from './graph.ts';

/** A colour for each node of two graphs. The same colour means the same thing in both. */
export interface Colouring {
  readonly a: readonly number[];
  readonly b: readonly number[];
}

/** The colours of kinds, before any edge is looked at. */
export function coloursOfKinds(a: Graph, b: Graph): Colouring {
  const of = ({ nodes }: Graph): string[] => nodes.map(({ kind }) => kind);
  return numbered(of(a), of(b));
}

/**
 * Colour refinement (Weisfeiler and Leman) of two graphs together. Two nodes keep one colour if
 * their edges lead to nodes of the same colours, by kind and direction. Ends at the first round
 * after which a colour has more nodes in one graph, or at the coarsest stable colouring.
 */
export function refined(a: Graph, b: Graph, from: Colouring): Colouring {
  let colouring = from;
  let count = countOf(colouring);
  while (unevenColour(colouring) === undefined) {
    const next = numbered(signatures(a, colouring.a), signatures(b, colouring.b));
    const nextCount = countOf(next);
    if (nextCount === count) return colouring;
    [colouring, count] = [next, nextCount];
  }
  return colouring;
}

/** The first colour that has another number of nodes in each graph. */
export function unevenColour({ a, b }: Colouring): number | undefined {
  const excess = new Map<number, number>();
  for (const colour of a) excess.set(colour, (excess.get(colour) ?? 0) + 1);
  for (const colour of b) excess.set(colour, (excess.get(colour) ?? 0) - 1);
  const uneven = [...excess].filter(([, more]) => more !== 0).map(([colour]) => colour);
  return uneven.length === 0 ? undefined : Math.min(...uneven);
}

/** The nodes of one colour in one graph. */
export function nodesOf(colours: readonly number[], colour: number): number[] {
  return [...colours.keys()].filter((node) => colours[node] === colour);
}

function signatures({ nodes, edges }: Graph, colours: readonly number[]): string[] {
  const around: string[][] = nodes.map(() => []);
  for (const { kind, from, to } of edges) {
    around[from]?.push(`to ${kind} ${colours[to]}`);
    around[to]?.push(`from ${kind} ${colours[from]}`);
  }
  return around.map((list, node) => [colours[node], ...list.sort()].join('\n'));
}

/** Numbers in the order of the texts, so that the names of nodes have no influence. */
function numbered(a: readonly string[], b: readonly string[]): Colouring {
  const sorted = [...new Set([...a, ...b])].sort();
  const places = new Map(sorted.map((text, place) => [text, place]));
  const of = (texts: readonly string[]): number[] =>
    texts.map((text) => places.get(text) as number);
  return { a: of(a), b: of(b) };
}

function countOf({ a, b }: Colouring): number {
  return new Set([...a, ...b]).size;
}
