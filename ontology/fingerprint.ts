import { arg, checkArgument } from 'assize/internal/base';
import { Footprints } from './footprints.ts';
import { type DerivedInvariant, invariantsOf } from './invariants.ts';
import type { Ontology, ProcessClass } from './ontology.ts';
import { earlier } from './order.ts';
import { paramsOf } from './paths.ts';
import { type DerivedRole, deriveRoles, type RoleOptions } from './roles.ts';

/**
 * Whether a domain has an attribute that determines the needs of its system, with the witness (seed
 * 000, §1.4.3).
 */
export interface Verdict {
  readonly holds: boolean;
  /** The witness, in sentences. */
  readonly witness: readonly string[];
}

export interface Fingerprint {
  /**
   * Proposals of two workers can each pass and together break a rule, as far as footprints show.
   */
  readonly writeSkew: Verdict;
  /** The processes happen one after the other. */
  readonly pipeline: Verdict;
  /** Everything that was done must be reported in order. */
  readonly auditability: Verdict;
  /** A process waits for a time that another one sets. */
  readonly timedGovernance: Verdict;
  readonly conclusion: string;
}

/**
 * The kind of system that an ontology's domain needs. Write skew is derived from footprints here.
 * `findWriteSkew` shows that it can happen, and needs the domain.
 *
 * @throws OntologyError `unsound`; ArgumentError `bad_argument`
 */
export function fingerprint(ontology: Ontology, options: RoleOptions = {}): Fingerprint {
  const derived = deriveRoles(ontology, options);
  const writeSkew = skewVerdict(ontology, derived.roles, invariantsOf(ontology, derived));
  const pipeline = pipelineVerdict(ontology);
  const auditability = auditVerdict(ontology);
  return {
    writeSkew,
    pipeline,
    auditability,
    timedGovernance: timedVerdict(ontology),
    conclusion: concluded({ writeSkew: writeSkew.holds, auditability: auditability.holds, pipeline: pipeline.holds }),
  };
}

/** The conclusion from the fingerprints (§1.4.3). @throws ArgumentError `bad_argument` */
export function concluded(found: {
  readonly writeSkew: boolean;
  readonly auditability: boolean;
  readonly pipeline: boolean;
}): string {
  checkArgument(arg.object, found, 'found');
  if (found.writeSkew && found.auditability)
    return 'Write skew and auditability: a strong candidate for a kernel that adjudicates all changes.';
  if (found.writeSkew) return 'Write skew: a kernel must adjudicate all changes; no report is required.';
  if (found.pipeline) return 'A pipeline without write skew: a simple architecture can be enough.';
  if (found.auditability)
    return 'Auditability alone: if agents rarely overlap, a simple pipeline with a log can be best.';
  return 'No demanding property: a simple architecture can be enough.';
}

/**
 * Rules that two roles write and neither sees completely: cross-cutting rules, and rules that only
 * another role could check. Also cross-cutting rules with a single writing role, for two values of
 * its parameters.
 */
function skewVerdict(
  ontology: Ontology,
  roles: readonly DerivedRole[],
  invariants: readonly DerivedInvariant[],
): Verdict {
  const footprints = new Footprints(ontology);
  const witness = invariants.flatMap((one) => {
    const writers = writersInto(one, footprints, ontology, roles).filter(
      ({ role }) => !one.localTo.includes(role.name),
    );
    const who = writers.map(({ role, writes }) => `${role.name} (${writes})`);
    const where = one.crossCutting ? 'visible to no role' : `visible only to ${one.localTo.join(' and ')}`;
    if (writers.length > 1) return [`${one.id} is ${where}, and written by ${who.join(' and by ')}`];
    const [only] = writers;
    if (!one.crossCutting || only === undefined || only.role.params.length === 0) return [];
    const each = only.role.params.map((param) => `{${param}}`).join(', ');
    return [`${one.id} is ${where}, and written by ${who[0]} for each ${each}`];
  });
  if (witness.length > 0) return { holds: true, witness };
  const crossing = invariants.filter(({ crossCutting }) => crossCutting);
  const why =
    crossing.length === 0
      ? 'every rule is visible to the roles that write its components'
      : `only one role writes ${crossing.map(({ id }) => id).join(', ')}`;
  const open = invariants.flatMap((one) => confinedSight(one, footprints, ontology, roles));
  return { holds: false, witness: [`footprints show no write skew: ${why}`, ...open] };
}

/**
 * A footprint has components only. By A.10 a role that sees a rule's components for one patient
 * sees the rule, even if the rule compares two patients.
 */
function confinedSight(
  one: DerivedInvariant,
  footprints: Footprints,
  ontology: Ontology,
  roles: readonly DerivedRole[],
): string[] {
  const params = paramsOf(footprints.pathsOf(one.footprint));
  return writersInto(one, footprints, ontology, roles).flatMap(({ role }) => {
    const own = role.params.filter((param) => params.includes(param)).map((param) => `{${param}}`);
    if (own.length === 0 || !one.localTo.includes(role.name)) return [];
    const of = `${one.id} is visible to ${role.name} for one ${own.join(', ')} at a time`;
    return [`${of}: run the domain to see whether it compares two of them`];
  });
}

function writersInto(
  { footprint }: DerivedInvariant,
  footprints: Footprints,
  { processes: all }: Ontology,
  roles: readonly DerivedRole[],
): { role: DerivedRole; writes: string }[] {
  const writing = all.filter(({ writes }) => footprints.meeting(footprint, writes).length > 0);
  return roles.flatMap((role) => {
    const processes = writing.filter(({ process }) => role.processes.includes(process));
    return processes.length === 0 ? [] : [{ role, writes: processes.map(({ process }) => process).join(', ') }];
  });
}

/** Every two processes are ordered by `a:after`, or by preconditions that wait for a process. */
function pipelineVerdict(ontology: Ontology): Verdict {
  const { processes } = ontology;
  const [first, second] = processes;
  if (first === undefined) return { holds: false, witness: ['the ontology has no process'] };
  if (second === undefined)
    return {
      holds: false,
      witness: [`${first.process} is the only process, and its occurrences have no order`],
    };
  const before = earlier(ontology);
  const isBefore = (a: ProcessClass, b: ProcessClass): boolean => before.get(b.term)?.has(a.term) === true;
  for (const [i, one] of processes.entries())
    for (const other of processes.slice(i + 1))
      if (!isBefore(one, other) && !isBefore(other, one))
        return { holds: false, witness: [`the order of ${one.process} and ${other.process} is not declared`] };
  const chain = processes.toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
  return { holds: true, witness: [chain.map(({ process }) => process).join(' → ')] };
}

function auditVerdict({ processes, audits }: Ontology): Verdict {
  const open = processes.filter(({ term }) => !audits.some(({ about }) => about.includes(term)));
  if (audits.length === 0) return { holds: false, witness: ['no directive requires a report'] };
  const asked = audits.map(({ term, definition }) => `${term}: ${definition}`);
  if (open.length === 0) return { holds: true, witness: asked };
  return {
    holds: false,
    witness: [...asked, `no directive requires ${open.map(({ process }) => process).join(', ')}`],
  };
}

function timedVerdict(ontology: Ontology): Verdict {
  const { processes, rules } = ontology;
  const footprints = new Footprints(ontology);
  const witness = processes.flatMap((gated) =>
    rules
      .filter(({ term }) => gated.preconditions.includes(term))
      .flatMap(({ rule, notBefore }) =>
        notBefore.flatMap((time) => {
          const setters = processes.filter(
            (other) => other !== gated && footprints.meeting([time], other.writes).length > 0,
          );
          const names = setters.map(({ process }) => process).join(', ');
          return names === '' ? [] : [`${gated.process} waits by ${rule} for ${time}, which ${names} sets`];
        }),
      ),
  );
  if (witness.length > 0) return { holds: true, witness };
  return { holds: false, witness: ['no process waits for a time that another process sets'] };
}
