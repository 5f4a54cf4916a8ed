import { arg, checkArgument } from 'assize/internal/base';
import { type Domain, patternText, requireOwnDomain } from 'assize/internal/kernel';
import { type DerivedInvariant, invariantsOf } from './invariants.ts';
import type { Component, Ontology, ProcessClass } from './ontology.ts';
import { liesUnder, meets } from './paths.ts';
import { type DerivedRole, deriveRoles, type RoleOptions } from './roles.ts';

/** Where an ontology and the domain that is written by it say two things. */
export interface Difference {
  readonly about: 'name' | 'process' | 'role' | 'invariant';
  /** The domain's name for it. */
  readonly name: string;
  readonly says: string;
}

/** The parts of a domain that the comparison reads. */
const DOMAIN = arg.members({
  name: arg.text,
  processes: arg.record(arg.object),
  roles: arg.record(arg.members({ processes: arg.list(arg.text) })),
  rules: arg.list(arg.members({ id: arg.text, patterns: arg.list(arg.object), spec: arg.object })),
});

/**
 * Compares an ontology with a domain: processes with their reads and writes, derived roles, and
 * derived invariants with their order, footprints and failure handling. Without differences, the
 * domain is the described one.
 *
 * @throws OntologyError `unsound`; ArgumentError `bad_argument`
 */
export function compare(
  ontology: Ontology,
  domain: Domain<any, any, any>,
  options: RoleOptions = {},
): Difference[] {
  const derived = deriveRoles(ontology, options);
  checkArgument(DOMAIN, domain, 'domain');
  requireOwnDomain(domain);
  return [
    ...nameDifference(ontology, domain),
    ...processDifferences(ontology, domain),
    ...roleDifferences(derived.roles, domain),
    ...invariantDifferences(invariantsOf(ontology, derived), ontology, domain),
  ];
}

function nameDifference({ domain: name }: Ontology, domain: Domain): Difference[] {
  return name === domain.name
    ? []
    : [{ about: 'name', name: domain.name, says: `the ontology describes ${name}` }];
}

function processDifferences({ processes, components }: Ontology, domain: Domain): Difference[] {
  const of = (terms: readonly string[]): Component[] =>
    components.filter(({ term }) => terms.includes(term));
  const known = new Map(processes.map((one) => [one.process, one]));
  const missing = Object.keys(domain.processes).filter((name) => !known.has(name));
  const found = processes.flatMap((one) => {
    const declared = domain.processes[one.process];
    if (declared === undefined)
      return [said('process', one.process, `the domain has no process for ${one.term}`)];
    return [
      ...pathDifferences(one, 'reads', of(one.reads), declared.reads ?? []),
      ...pathDifferences(one, 'writes', of(one.writes), declared.writes ?? []),
    ];
  });
  return [
    ...missing.map((name) => said('process', name, 'the ontology has no such process')),
    ...found,
  ];
}

/**
 * Each path of the domain belongs to a named component, and each named component has a path in the
 * domain.
 */
function pathDifferences(
  { process }: ProcessClass,
  way: 'reads' | 'writes',
  components: readonly Component[],
  declared: readonly string[],
): Difference[] {
  const named = new Set(components.flatMap(({ paths }) => paths));
  const unnamed = declared.filter((path) => !named.has(path));
  const absent = components.filter(({ paths }) => !paths.some((path) => declared.includes(path)));
  return [
    ...unnamed.map((path) =>
      said('process', process, `it ${way} ${path}, which the ontology does not declare`),
    ),
    ...absent.map(({ term, paths }) =>
      said(
        'process',
        process,
        `the ontology declares that it ${way} ${term} (${paths.join(', ')})`,
      ),
    ),
  ];
}

function roleDifferences(roles: readonly DerivedRole[], domain: Domain): Difference[] {
  const known = new Map(roles.map((role) => [role.name, role]));
  const missing = Object.keys(domain.roles).filter((name) => !known.has(name));
  const found = roles.flatMap(({ name, processes, params }) => {
    const declared = domain.roles[name];
    if (declared === undefined)
      return [said('role', name, `the domain has no such role; it performs ${list(processes)}`)];
    const differences: Difference[] = [];
    if (!sameSet(processes, declared.processes))
      differences.push(
        said(
          'role',
          name,
          `it performs ${list(declared.processes)}; the derived role performs ${list(processes)}`,
        ),
      );
    // A role can have additional parameters that no path names, such as its holder.
    const missed = params.filter((param) => !declared.params?.includes(param));
    if (missed.length > 0)
      differences.push(said('role', name, `it has no parameter ${list(missed)}`));
    return differences;
  });
  return [...missing.map((name) => said('role', name, 'it is not derived')), ...found];
}

function invariantDifferences(
  invariants: readonly DerivedInvariant[],
  ontology: Ontology,
  domain: Domain,
): Difference[] {
  const ids = domain.rules.map(({ id }) => id);
  const derived = invariants.map(({ id }) => id);
  const missing = ids
    .filter((id) => !derived.includes(id))
    .map((id) => said('invariant', id, 'the ontology has no such rule'));
  const extra = derived
    .filter((id) => !ids.includes(id))
    .map((id) => said('invariant', id, 'the domain has no such invariant'));
  const common = derived.filter((id) => ids.includes(id));
  const place = common.findIndex((id, i) => ids.filter((one) => derived.includes(one))[i] !== id);
  const order =
    place < 0
      ? []
      : [
          said(
            'invariant',
            common[place] as string,
            `it is checked in another order: ${list(ids)}`,
          ),
        ];
  return [
    ...missing,
    ...extra,
    ...order,
    ...invariants.flatMap((one) => footprintDifferences(one, ontology, domain)),
  ];
}

/**
 * A component inside another one is read with it. If one of two components is inside the other, the
 * rule needs to name only one.
 */
function footprintDifferences(
  one: DerivedInvariant,
  { components }: Ontology,
  domain: Domain,
): Difference[] {
  const rule = domain.rules.find(({ id }) => id === one.id);
  if (rule === undefined) return [];
  const read = rule.patterns.map(patternText);
  const named = components.filter(({ term }) => one.footprint.includes(term));
  const isRead = ({ paths }: Component): boolean =>
    paths.some((path) => read.some((pattern) => meets(path, pattern)));
  const isNested = (a: Component, b: Component): boolean =>
    a.paths.every((path) => liesUnder(path, b.paths)) ||
    b.paths.every((path) => liesUnder(path, a.paths));
  const idle = named.filter((component) => !isRead(component));
  const unnamed = components.filter(
    (component) => isRead(component) && !named.some((other) => isNested(component, other)),
  );
  const homeless = read.filter(
    (pattern) => !components.some(({ paths }) => paths.some((path) => meets(path, pattern))),
  );
  const asks = rule.spec.channel;
  const failure =
    (asks ?? '') === one.counselor
      ? []
      : [
          `it escalates to ${asks ?? 'no counselor'}; in the ontology to ${one.counselor || 'no counselor'}`,
        ];
  return [
    ...idle.map(
      ({ term, paths }) =>
        `it does not read ${term} (${paths.join(', ')}), to which the rule refers`,
    ),
    ...unnamed.map(({ term }) => `it reads ${term}, to which the rule does not refer`),
    ...homeless.map((pattern) => `it reads ${pattern}, which is not a component`),
    ...failure,
  ].map((says) => said('invariant', one.id, says));
}

function said(about: Difference['about'], name: string, says: string): Difference {
  return { about, name, says };
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}

function list(names: readonly string[]): string {
  return names.join(', ') || 'none';
}
