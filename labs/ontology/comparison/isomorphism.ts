import { ArgumentError, arg, checkArgument } from 'assize/internal/base';
import { invariantsOf } from '../invariants.ts';
import { type Ontology, requireOntology } from '../ontology.ts';
import { deriveRoles } from '../roles.ts';
import { type DerivedArchitecture, diagramGraph, wiringGraph } from './architecture-graph.ts';
import { differencesOf } from './differences.ts';
import { matchingOf } from './matching.ts';

export type ArchitectureLevel = 'diagram' | 'wiring';

export interface IsomorphismOptions {
  /**
   * `diagram`: agents, meta-agent, ledger and counselor queue with its channels (figures 5 and 8).
   * `wiring`: roles, processes, components, rules and channels with all their edges. Default:
   * `diagram`
   */
  readonly level?: ArchitectureLevel;
  /** Roles that no agent fills, left out of both architectures with their processes. */
  readonly without?: readonly string[];
  /** As for `deriveRoles`. */
  readonly threshold?: number;
  /** Maximum number of refinements. Default: 10,000 */
  readonly stepsMax?: number;
}

/** Whether two derived architectures are one graph with other names. */
export interface Isomorphism {
  readonly level: ArchitectureLevel;
  readonly isomorphic: boolean;
  /** The counterpart of each part of `a`, in its order. Empty if not isomorphic. */
  readonly mapping: readonly { readonly kind: string; readonly a: string; readonly b: string }[];
  /** A smallest explanation. Empty if isomorphic. */
  readonly differences: readonly string[];
}

const OPTIONS = arg.members({
  level: arg.optional(
    arg.of('diagram or wiring', (value) => value === 'diagram' || value === 'wiring'),
  ),
  without: arg.optional(arg.list(arg.text)),
  threshold: arg.optional(
    arg.of('a number from 0', (value) => typeof value === 'number' && value >= 0),
  ),
  stepsMax: arg.optional(arg.wholeFrom(1)),
});

/**
 * Compares the architectures that Procedures 1 and 2 derive from two ontologies, as graphs without
 * names (seed 000, §3.2.1: “almost isomorphic”; §3.2.2: “same diagram, different labels”).
 *
 * @throws OntologyError `unsound`, `too_symmetric`; ArgumentError `bad_argument`, also if no
 * ontology has a role of `without`
 */
export function isomorphism(
  a: Ontology,
  b: Ontology,
  options: IsomorphismOptions = {},
): Isomorphism {
  requireOntology(a);
  requireOntology(b);
  checkArgument(OPTIONS, options, 'options');
  const { level = 'diagram', stepsMax = 10_000 } = options;
  const graphOf = level === 'diagram' ? diagramGraph : wiringGraph;
  const derived = [derivedFrom(a, options), derivedFrom(b, options)] as const;
  const without = options.without ?? [];
  requireRoles(derived, without);
  const one = graphOf(withoutRoles(derived[0], without));
  const other = graphOf(withoutRoles(derived[1], without));
  const found = matchingOf(one, other, stepsMax);
  if (found === undefined)
    return { level, isomorphic: false, mapping: [], differences: differencesOf(one, other) };
  const mapping = one.nodes.map(({ kind, name }, i) => ({
    ...{ kind, a: name },
    b: other.nodes[found[i] as number]?.name as string,
  }));
  return { level, isomorphic: true, mapping, differences: [] };
}

function derivedFrom(ontology: Ontology, { threshold }: IsomorphismOptions): DerivedArchitecture {
  const derived = deriveRoles(ontology, threshold === undefined ? {} : { threshold });
  return { ontology, roles: derived.roles, invariants: invariantsOf(ontology, derived) };
}

function withoutRoles(derived: DerivedArchitecture, names: readonly string[]): DerivedArchitecture {
  return { ...derived, roles: derived.roles.filter(({ name }) => !names.includes(name)) };
}

function requireRoles(derived: readonly DerivedArchitecture[], names: readonly string[]): void {
  const known = derived.flatMap(({ roles }) => roles.map(({ name }) => name));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new ArgumentError(
    'bad_argument',
    `The argument options.without names ${unknown}, and no ontology has such a role. Name one of ${known.join(', ')}.`,
    { evidence: { argument: 'options.without' } },
  );
}
