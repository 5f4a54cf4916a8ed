import type { Footprints } from './footprints.ts';
import type { DerivedInvariant } from './invariants.ts';
import type { Ontology } from './ontology.ts';
import type { DerivedRole } from './roles.ts';

/** A rule. Two workers can write into one of its checks at the same time. */
export interface JointWriting {
  readonly invariant: DerivedInvariant;
  readonly writers: readonly Writer[];
  /** Parameters that have another value for each of the two workers. Empty if nothing needs it. */
  readonly across: readonly string[];
}

export interface Writer {
  readonly role: DerivedRole;
  /** Names of the processes that write into the rule. */
  readonly processes: readonly string[];
  /** The written components, by term. */
  readonly written: readonly string[];
}

/**
 * The rules that footprints show two workers to break together (Definition A.11). Two
 * workers have different roles, or the same role with other values of its parameters. Nothing is
 * left out: two workers that never write into one rule cannot break it together.
 */
export function jointWritings(
  ontology: Ontology,
  roles: readonly DerivedRole[],
  invariants: readonly DerivedInvariant[],
  footprints: Footprints,
): JointWriting[] {
  return invariants.flatMap((invariant): JointWriting[] => {
    const writers = writersInto(invariant, ontology, roles, footprints);
    if (writers.length > 1) return [{ invariant, writers, across: [] }];
    const across = writers.flatMap(({ role, written }) =>
      footprints.crossing(role.params, written, invariant.forEach),
    );
    return across.length === 0 ? [] : [{ invariant, writers, across }];
  });
}

/**
 * The same for processes that happen one after the other. Only two runs, for other values of the
 * roles' parameters, are at work at the same time.
 */
export function jointWritingsOfRuns(
  found: readonly JointWriting[],
  roles: readonly DerivedRole[],
  footprints: Footprints,
): JointWriting[] {
  const params = [...new Set(roles.flatMap((role) => role.params))];
  return found.flatMap(({ invariant, writers }): JointWriting[] => {
    const written = writers.flatMap((writer) => writer.written);
    const across = footprints.crossing(params, written, invariant.forEach);
    return across.length === 0 ? [] : [{ invariant, writers, across }];
  });
}

function writersInto(
  { footprint }: DerivedInvariant,
  { processes: all }: Ontology,
  roles: readonly DerivedRole[],
  footprints: Footprints,
): Writer[] {
  const writing = all
    .map(({ process, writes }) => ({ process, written: footprints.meeting(writes, footprint) }))
    .filter(({ written }) => written.length > 0);
  return roles.flatMap((role) => {
    const own = writing.filter(({ process }) => role.processes.includes(process));
    if (own.length === 0) return [];
    const processes = own.map(({ process }) => process);
    return [{ role, processes, written: [...new Set(own.flatMap(({ written }) => written))] }];
  });
}
