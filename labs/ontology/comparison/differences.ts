import { NOUNS } from './architecture-graph.ts';
import type { Graph } from './graph.ts';
import { type Colouring, coloursOfKinds, nodesOf, refined, unevenColour } from './refine.ts';

/** Names that an explanation lists of a class. */
const NAMES_MAX = 4;

/**
 * A smallest explanation of why two graphs are not isomorphic: the kinds with more
 * nodes in one, or else the kinds of edges, or else the first class of colour refinement.
 */
export function differencesOf(a: Graph, b: Graph): string[] {
  const kinds = unevenKinds(a.nodes, b.nodes).map(
    ({ kind, counts: [n, m] }) => `${nounOf(kind, n)} and ${m}`,
  );
  if (kinds.length > 0) return kinds;
  const edges = unevenKinds(a.edges, b.edges).map(
    ({ kind, counts: [n, m] }) => `${n} edges ‘${kind}’ and ${m}`,
  );
  if (edges.length > 0) return edges;
  const colouring = refined(a, b, coloursOfKinds(a, b));
  const colour = unevenColour(colouring);
  return [
    colour === undefined
      ? 'all nodes have counterparts with the same surroundings, and still no mapping keeps all edges'
      : classText(a, b, colouring, colour),
  ];
}

function classText(a: Graph, b: Graph, colouring: Colouring, colour: number): string {
  const [mine, theirs] = [nodesOf(colouring.a, colour), nodesOf(colouring.b, colour)];
  const [graph, node] = mine.length > 0 ? ([a, mine[0]] as const) : ([b, theirs[0]] as const);
  const { kind } = graph.nodes[node as number] as Graph['nodes'][number];
  const like = surroundingsOf(graph, node as number);
  const names = (of: Graph, nodes: readonly number[]): string => {
    const [shown, more] = [nodes.slice(0, NAMES_MAX), nodes.length - NAMES_MAX];
    const list = shown.map((one) => of.nodes[one]?.name).join(', ');
    return nodes.length === 0 ? '' : ` (${list}${more > 0 ? ` and ${more} more` : ''})`;
  };
  return `${nounOf(kind, mine.length)}${names(a, mine)} and ${theirs.length}${names(b, theirs)} with ${like}`;
}

/** The edges of a node in words, as `2 writes to components, 1 performs from a role`. */
function surroundingsOf({ nodes, edges }: Graph, node: number): string {
  const counts = new Map<string, number>();
  const add = (text: string): unknown => counts.set(text, (counts.get(text) ?? 0) + 1);
  for (const { kind, from, to } of edges) {
    if (from === node) add(`‘${kind}’ to a ${nodes[to]?.kind}`);
    if (to === node) add(`‘${kind}’ from a ${nodes[from]?.kind}`);
  }
  const texts = [...counts].map(([text, count]) => `${count} ${text}`);
  return texts.length === 0 ? 'no edge' : `${texts.join(', ')} and like neighbours`;
}

function unevenKinds(
  a: readonly { readonly kind: string }[],
  b: readonly { readonly kind: string }[],
): { readonly kind: string; readonly counts: readonly [number, number] }[] {
  const order = Object.keys(NOUNS);
  const kinds = [
    ...new Set([...order, ...a.map(({ kind }) => kind), ...b.map(({ kind }) => kind)]),
  ];
  const count = (of: readonly { readonly kind: string }[], kind: string): number =>
    of.filter((one) => one.kind === kind).length;
  return kinds
    .map((kind) => ({ kind, counts: [count(a, kind), count(b, kind)] as const }))
    .filter(({ counts: [n, m] }) => n !== m);
}

function nounOf(kind: string, count: number): string {
  const [one, several] = NOUNS[kind] ?? [kind, kind];
  return `${count} ${count === 1 ? one : several}`;
}
