import { Footprints } from './footprints.ts';
import type { Ontology, PolicyRule } from './ontology.ts';
import { liesUnder, openPath } from './paths.ts';
import { type DerivedRole, type DerivedRoles, deriveRoles, type RoleOptions } from './roles.ts';

/** An invariant, as Procedure 2 derives it. */
export interface DerivedInvariant {
  readonly id: string;
  readonly term: string;
  readonly definition: string;
  /** A policy rule (step 1), or what must hold before a process (step 2). */
  readonly from: 'policy' | 'precondition';
  readonly source: string;
  /** Of a precondition: the processes that wait for it. */
  readonly gates: readonly string[];
  /** The components that it refers to, by term (Definition A.9). */
  readonly footprint: readonly string[];
  /** The same as paths, regardless of parameters. */
  readonly reads: readonly string[];
  /** The parameters that have one value in each check (`a:forEach`). */
  readonly forEach: readonly string[];
  /**
   * Roles with a footprint that contains the invariant's footprint. A worker has one value of each
   * parameter of its role. A rule that joins several values is local only to a role without them.
   */
  readonly localTo: readonly string[];
  /** Contained in no role's footprint (Definition A.10). */
  readonly crossCutting: boolean;
  /** Roles with a footprint that overlaps the invariant's. */
  readonly meets: readonly string[];
  /**
   * Roles with two workers that overlap the same check, with other values of their parameters.
   * Several workers, of one role or of two, mean cross-cutting in the sense of §2.3.
   */
  readonly meetsTwice: readonly string[];
  readonly onFailure: 'reject' | 'escalate';
  readonly counselor: string;
}

/**
 * Procedure 2: each policy rule and each precondition with its footprint, in order, and the roles
 * that could check it.
 *
 * @throws OntologyError `unsound`; ArgumentError `bad_argument`
 */
export function deriveInvariants(
  ontology: Ontology,
  options: RoleOptions = {},
): DerivedInvariant[] {
  return invariantsOf(ontology, deriveRoles(ontology, options));
}

export function invariantsOf(ontology: Ontology, { roles }: DerivedRoles): DerivedInvariant[] {
  const footprints = new Footprints(ontology);
  return ontology.rules.map((rule) => invariantOf(rule, ontology, roles, footprints));
}

function invariantOf(
  rule: PolicyRule,
  { processes }: Ontology,
  roles: readonly DerivedRole[],
  footprints: Footprints,
): DerivedInvariant {
  const gates = processes
    .filter(({ preconditions }) => preconditions.includes(rule.term))
    .map(({ process }) => process);
  const localTo = roles.filter(({ footprint }) =>
    footprints.confines(footprint, rule.refersTo, rule.forEach),
  );
  const meets = roles.filter(
    ({ footprint }) => footprints.meeting(rule.refersTo, footprint).length > 0,
  );
  const twice = meets.filter((role) => isMetByTwo(rule, role, footprints));
  return {
    id: rule.rule,
    term: rule.term,
    definition: rule.definition,
    from: gates.length > 0 ? 'precondition' : 'policy',
    source: rule.source,
    gates,
    footprint: rule.refersTo,
    reads: widest(
      footprints.pathsOf(rule.refersTo).map((path) => openPath(path).replace(/\/-$/, '')),
    ),
    forEach: rule.forEach,
    localTo: localTo.map(({ name }) => name),
    crossCutting: localTo.length === 0,
    meets: meets.map(({ name }) => name),
    meetsTwice: twice.map(({ name }) => name),
    onFailure: rule.onFailure as DerivedInvariant['onFailure'],
    counselor: rule.counselor,
  };
}

function isMetByTwo(
  { refersTo, forEach }: PolicyRule,
  role: DerivedRole,
  footprints: Footprints,
): boolean {
  const met = footprints.meeting(role.footprint, refersTo);
  return footprints.crossing(role.params, met, forEach).length > 0;
}

/** Without those that lie inside another one. */
function widest(paths: readonly string[]): string[] {
  const once = [...new Set(paths)];
  return once.filter((path) => !once.some((other) => other !== path && liesUnder(path, [other])));
}
