import { OntologyError } from '../errors.ts';
import type { Graph } from './graph.ts';
import { type Colouring, coloursOfKinds, nodesOf, refined, unevenColour } from './refine.ts';

/**
 * An isomorphism of two graphs: for each node of `a` its node in `b`, so that kinds and edges are
 * the same. Undefined if there is none. Colour refinement with backtracking: one node of the
 * smallest undecided class is mapped to each candidate in turn.
 *
 * @throws OntologyError `too_symmetric` after `stepsMax` refinements
 */
export function matchingOf(a: Graph, b: Graph, stepsMax: number): readonly number[] | undefined {
  let steps = 0;
  const search = (from: Colouring): readonly number[] | undefined => {
    steps++;
    if (steps > stepsMax)
      throw new OntologyError(
        'too_symmetric',
        `The graphs are not compared after ${stepsMax} steps, because too many of their parts look alike. Raise stepsMax.`,
        { evidence: { steps_max: stepsMax } },
      );
    const colouring = refined(a, b, from);
    if (unevenColour(colouring) !== undefined) return undefined;
    const open = smallestOpenClass(colouring.a);
    if (open === undefined) return pairs(colouring);
    const [first] = nodesOf(colouring.a, open) as [number, ...number[]];
    for (const candidate of nodesOf(colouring.b, open)) {
      const found = search(individualised(colouring, first, candidate));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search(coloursOfKinds(a, b));
}

/** The colour with the fewest nodes among those with several. */
function smallestOpenClass(colours: readonly number[]): number | undefined {
  const sizes = new Map<number, number>();
  for (const colour of colours) sizes.set(colour, (sizes.get(colour) ?? 0) + 1);
  const open = [...sizes].filter(([, size]) => size > 1).sort(([c, m], [d, n]) => m - n || c - d);
  return open[0]?.[0];
}

/** A colour of their own for two nodes that are mapped to each other. */
function individualised({ a, b }: Colouring, first: number, candidate: number): Colouring {
  const fresh = Math.max(...a, ...b) + 1;
  return { a: a.with(first, fresh), b: b.with(candidate, fresh) };
}

function pairs({ a, b }: Colouring): number[] {
  return a.map((colour) => b.indexOf(colour));
}
