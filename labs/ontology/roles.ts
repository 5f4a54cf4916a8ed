import { arg, checkArgument } from 'assize/internal/base';
import { ascents } from './categories.ts';
import { requireSound } from './check.ts';
import { type Clustering, cluster, OVERLAP_MIN } from './cluster.ts';
import { readPaths, writePaths } from './footprints.ts';
import type { Component, Ontology, ProcessClass } from './ontology.ts';
import { paramsOf } from './paths.ts';

/** A worker's role, as Procedure 1 derives it. */
export interface DerivedRole {
  /** By the ontology's a:WorkerRole, or else of its processes' names. */
  readonly name: string;
  readonly named: boolean;
  /** Names of processes, in the order of the file. */
  readonly processes: readonly string[];
  /** The parameters that confine it: the names in braces. */
  readonly params: readonly string[];
  /** Components, by term: the union of its processes' footprints (Definition A.6). */
  readonly footprint: readonly string[];
  /** The same as paths: its slice. */
  readonly sees: readonly string[];
  /**
   * For each component of the footprint, a process that needs it. Together they show that the role
   * is well-formed (A.8).
   */
  readonly needs: readonly {
    readonly component: string;
    readonly process: string;
    readonly way: 'reads' | 'writes';
  }[];
}

export interface DerivedRoles {
  readonly roles: readonly DerivedRole[];
  readonly threshold: number;
  readonly clustering: Clustering;
  /**
   * Roles that the primary continuant or another one bears. They are fields of the state, and no
   * agent fills them (Remark A.4).
   */
  readonly continuantRoles: readonly {
    readonly term: string;
    readonly label: string;
    readonly paths: readonly string[];
  }[];
  /**
   * The differences between the clusters and the ontology's worker roles. Empty if each role names
   * one cluster.
   */
  readonly disagreements: readonly string[];
}

export interface RoleOptions {
  /**
   * From 0 (all in one role) to above 1 (each process alone). Default: `OVERLAP_MIN`, a quarter.
   */
  readonly threshold?: number;
}

const ROLE_OPTIONS = arg.members({
  threshold: arg.optional(
    arg.of('a number from 0', (value) => typeof value === 'number' && value >= 0),
  ),
});

/**
 * Procedure 1: processes with substantially overlapping footprints become one role, with the union
 * of their footprints.
 *
 * @throws OntologyError `unsound`; ArgumentError `bad_argument`
 */
export function deriveRoles(ontology: Ontology, options: RoleOptions = {}): DerivedRoles {
  requireSound(ontology);
  checkArgument(ROLE_OPTIONS, options, 'options');
  const { threshold = OVERLAP_MIN } = options;
  const { processes } = ontology;
  const clustering = cluster(
    processes.map((one) => ({ name: one.term, touches: new Set([...one.reads, ...one.writes]) })),
    {
      apart: processes.flatMap(({ term, apartFrom }) =>
        apartFrom.map((other): [string, string] => [term, other]),
      ),
      together: processes.flatMap(({ term, togetherWith }) =>
        togetherWith.map((other): [string, string] => [term, other]),
      ),
    },
    threshold,
  );
  const groups = clustering.groups.map((group) =>
    processes.filter(({ term }) => group.includes(term)),
  );
  const roles = inOrder(
    groups.map((group) => roleOf(ontology, group)),
    ontology,
  );
  return {
    roles,
    threshold,
    clustering,
    continuantRoles: continuantRoles(ontology),
    disagreements: disagreements(ontology, groups),
  };
}

function roleOf(ontology: Ontology, group: readonly ProcessClass[]): DerivedRole {
  const name = ontology.roles.find(({ realizedIn }) =>
    group.some(({ term }) => realizedIn.includes(term)),
  )?.role;
  const of = componentsOf(ontology);
  const needs = group.flatMap(({ process, reads, writes }) => [
    ...writes.map((component) => ({ component, process, way: 'writes' as const })),
    ...reads.map((component) => ({ component, process, way: 'reads' as const })),
  ]);
  const sees = [
    ...new Set(
      group.flatMap(({ reads, writes }) => [...readPaths(of(reads)), ...writePaths(of(writes))]),
    ),
  ];
  const first = new Map(needs.toReversed().map((need) => [need.component, need]));
  const footprint = ontology.components
    .filter(({ term }) => first.has(term))
    .map(({ term }) => term);
  return {
    name: name ?? group.map(({ process }) => process).join('_'),
    named: name !== undefined,
    processes: group.map(({ process }) => process),
    params: paramsOf(sees),
    footprint,
    sees,
    needs: footprint.map((component) => first.get(component) as (typeof needs)[number]),
  };
}

function componentsOf({ components }: Ontology): (terms: readonly string[]) => Component[] {
  return (terms) => components.filter(({ term }) => terms.includes(term));
}

/** In the order of the ontology, with unnamed roles at the end. */
function inOrder(roles: readonly DerivedRole[], ontology: Ontology): DerivedRole[] {
  const place = ({ name, named }: DerivedRole): number =>
    named ? ontology.roles.findIndex(({ role }) => role === name) : ontology.roles.length;
  return roles.toSorted((a, b) => place(a) - place(b));
}

function continuantRoles(ontology: Ontology): DerivedRoles['continuantRoles'] {
  const ascentOf = ascents(ontology);
  return ontology.components
    .filter(({ term }) => ascentOf.get(term)?.categories.has('role'))
    .map(({ term, label, paths }) => ({ term, label, paths }));
}

function disagreements(
  { roles }: Ontology,
  groups: readonly (readonly ProcessClass[])[],
): string[] {
  const said: string[] = [];
  for (const { term, realizedIn } of roles) {
    const own = groups.filter((group) => group.some((one) => realizedIn.includes(one.term)));
    if (own.length > 1)
      said.push(
        `${term} is realized in processes of ${own.length} groups: ${own.map(namesOf).join(' | ')}`,
      );
  }
  for (const group of groups) {
    const names = roles.filter(({ realizedIn }) =>
      group.some(({ term }) => realizedIn.includes(term)),
    );
    if (names.length > 1)
      said.push(
        `${names.map(({ term }) => term).join(' and ')} are realized in one group: ${namesOf(group)}`,
      );
    if (names.length === 0) said.push(`no worker role is realized in the group ${namesOf(group)}`);
  }
  return said;
}

function namesOf(group: readonly ProcessClass[]): string {
  return group.map(({ term }) => term).join(', ');
}
