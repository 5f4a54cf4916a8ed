import { arg, checkArgument } from 'assize/internal/base';
import { type Ascent, ascents } from './categories.ts';
import { Footprints } from './footprints.ts';
import { invariantsOf } from './invariants.ts';
import { type JointWriting, jointWritings, jointWritingsOfRuns } from './joint-writers.ts';
import { type Entity, type Ontology, type ProcessClass, requireOntology } from './ontology.ts';
import { earlier } from './order.ts';
import { type DerivedRole, deriveRoles, type RoleOptions } from './roles.ts';
import type { SkewProposal, SkewSearch } from './write-skew.ts';

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
   * The footprints show that proposals of two workers can each pass and together break a rule.
   */
  readonly writeSkew: Verdict;
  /** All execution is sequential. It excludes write skew. */
  readonly pipeline: Verdict;
  /** Everything that was done must be reported in order. */
  readonly auditability: Verdict;
  /** A process waits for a time that another one sets. */
  readonly timedGovernance: Verdict;
  readonly conclusion: string;
}

/**
 * The kind of system that an ontology's domain needs. Write skew is derived from footprints and
 * from the declared order of processes. Without it, no two workers write into one rule at the same
 * time. With it, `findWriteSkew` can show it, and needs the domain.
 *
 * @throws OntologyError `unsound`; ArgumentError `bad_argument`
 */
export function fingerprint(ontology: Ontology, options: RoleOptions = {}): Fingerprint {
  const derived = deriveRoles(ontology, options);
  const { roles } = derived;
  const footprints = new Footprints(ontology);
  const order = orderVerdict(ontology);
  const joint = jointWritings(ontology, roles, invariantsOf(ontology, derived), footprints);
  const possible = order.holds ? jointWritingsOfRuns(joint, roles, footprints) : joint;
  return withConclusion({
    writeSkew: skewVerdict(possible, order.holds),
    pipeline: pipelineVerdict(order, possible, roles),
    auditability: auditVerdict(ontology),
    timedGovernance: timedVerdict(ontology),
  });
}

const isBoolean = arg.of('true or false', (value) => typeof value === 'boolean');
const VERDICT = arg.members({ holds: isBoolean, witness: arg.list(arg.text) });
const FINGERPRINT = arg.members({
  writeSkew: VERDICT,
  pipeline: VERDICT,
  auditability: VERDICT,
  timedGovernance: VERDICT,
});
const PROPOSAL = arg.members({
  action: arg.text,
  role: arg.members({ name: arg.text, params: arg.record(arg.text) }),
});
const SEARCH = arg.members({
  witnesses: arg.list(arg.members({ invariantId: arg.text, first: PROPOSAL, second: PROPOSAL })),
});

/**
 * The fingerprint after a search by `findWriteSkew` in the domain of the ontology. A found pair is
 * a write skew. Its proposals were possible at the same time, so that execution is not sequential.
 *
 * @throws ArgumentError `bad_argument`
 */
export function withSearch(
  found: Fingerprint,
  search: SkewSearch,
  ontology: Ontology,
): Fingerprint {
  checkArgument(FINGERPRINT, found, 'found');
  checkArgument(SEARCH, search, 'search');
  requireOntology(ontology);
  const { witnesses } = search;
  const [first] = witnesses;
  if (first === undefined) return found;
  const { writeSkew, pipeline } = found;
  const pairs = `${first.first.action} and ${first.second.action} are possible on one state, and break ${first.invariantId}`;
  return withConclusion({
    ...found,
    writeSkew: {
      holds: true,
      witness: [
        ...(writeSkew.holds ? writeSkew.witness : refuted(writeSkew, witnesses)),
        ...witnesses.flatMap((witness) => joinedAgainst(witness, ontology)),
      ],
    },
    pipeline: pipeline.holds
      ? {
          holds: false,
          witness: [...pipeline.witness, `the domain does not keep this order: ${pairs}`],
        }
      : pipeline,
  });
}

/** A footprint is that of one worker for each role and value of its parameters. */
function refuted({ witness }: Verdict, found: SkewSearch['witnesses']): string[] {
  const ofTwo = found.filter(({ first, second }) => !isOneWorker(first.role, second.role));
  const rules = (of: SkewSearch['witnesses']): string =>
    of.map(({ invariantId }) => invariantId).join(', ');
  return ofTwo.length > 0
    ? [
        ...witness,
        `the domain does not keep to this: two workers can break ${rules(ofTwo)} together`,
      ]
    : [
        ...witness,
        `two agents in one role can break ${rules(found)} together: fill the role with one agent`,
      ];
}

function isOneWorker(a: SkewProposal['role'], b: SkewProposal['role']): boolean {
  const params = [a, b].map((role) => JSON.stringify(Object.entries(role.params).sort()));
  return a.name === b.name && params[0] === params[1];
}

/** A pair for two values of a parameter shows that its rule is not for each value by itself. */
function joinedAgainst(
  { invariantId, first, second }: SkewSearch['witnesses'][number],
  ontology: Ontology,
): readonly string[] {
  const rule = ontology.rules.find(({ rule }) => rule === invariantId);
  if (rule === undefined) return [];
  const footprints = new Footprints(ontology);
  const isConfined = (param: string): boolean =>
    footprints.crossing([param], rule.refersTo, rule.forEach).length === 0;
  return rule.forEach.flatMap((param) => {
    const [one, other] = [first.role.params[param], second.role.params[param]];
    if (one === undefined || other === undefined || one === other || !isConfined(param)) return [];
    return [
      `${invariantId} joins two values of {${param}}: remove a:forEach "${param}" from ${rule.term}`,
    ];
  });
}

function withConclusion(verdicts: Omit<Fingerprint, 'conclusion'>): Fingerprint {
  const { writeSkew, pipeline, auditability, timedGovernance } = verdicts;
  const conclusion = concluded({
    writeSkew: writeSkew.holds,
    auditability: auditability.holds,
    pipeline: pipeline.holds,
  });
  return { writeSkew, pipeline, auditability, timedGovernance, conclusion };
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
  if (found.writeSkew)
    return 'Write skew: a kernel must adjudicate all changes; no report is required.';
  if (found.pipeline) return 'A pipeline without write skew: a simple architecture can be enough.';
  if (found.auditability)
    return 'Auditability alone: if agents rarely overlap, a simple pipeline with a log can be best.';
  return 'No demanding property: a simple architecture can be enough.';
}

function skewVerdict(possible: readonly JointWriting[], inOrder: boolean): Verdict {
  if (possible.length > 0)
    return { holds: true, witness: possible.map((one) => jointText(one, inOrder)) };
  const why = inOrder
    ? 'processes happen one after the other, so that no two workers write into one rule at the same time'
    : 'no two workers write into one rule';
  return { holds: false, witness: [`there is no write skew: ${why}`] };
}

function jointText({ invariant, writers, across }: JointWriting, inOrder: boolean): string {
  const { id, crossCutting, localTo } = invariant;
  const where = crossCutting ? 'visible to no role' : `visible only to ${localTo.join(' and ')}`;
  const who = writers
    .map(({ role, processes }) => `${role.name} (${processes.join(', ')})`)
    .join(' and by ');
  const values = across.map((param) => `{${param}}`).join(', ');
  const when =
    across.length === 0 ? '' : inOrder ? `, in runs for two ${values}` : ` for each ${values}`;
  return `${id} is ${where}, and written by ${who}${when}`;
}

/**
 * “All execution is sequential in a pipeline” (§1.4.3). A declared order is that of one run, so two
 * runs must not meet in a rule.
 */
function pipelineVerdict(
  order: Verdict,
  ofRuns: readonly JointWriting[],
  roles: readonly DerivedRole[],
): Verdict {
  if (!order.holds) return order;
  const params = [...new Set(roles.flatMap((role) => role.params))]
    .map((param) => `{${param}}`)
    .join(', ');
  if (ofRuns.length === 0)
    return {
      holds: true,
      witness: [
        ...order.witness,
        ...(params === '' ? [] : [`two runs for other ${params} meet in no rule`]),
      ],
    };
  const ids = ofRuns.map(({ invariant }) => invariant.id).join(', ');
  return {
    holds: false,
    witness: [
      ...order.witness,
      `this is the order of one run for ${params}; runs at the same time meet in ${ids}`,
    ],
  };
}

/** Every two processes are ordered by `a:after`, or by preconditions that wait for a process. */
function orderVerdict(ontology: Ontology): Verdict {
  const { processes } = ontology;
  const [first, second] = processes;
  if (first === undefined) return { holds: false, witness: ['the ontology has no process'] };
  if (second === undefined)
    return {
      holds: false,
      witness: [`${first.process} is the only process, and its occurrences have no order`],
    };
  const before = earlier(ontology);
  const isBefore = (a: ProcessClass, b: ProcessClass): boolean =>
    before.get(b.term)?.has(a.term) === true;
  for (const [i, one] of processes.entries())
    for (const other of processes.slice(i + 1))
      if (!isBefore(one, other) && !isBefore(other, one))
        return {
          holds: false,
          witness: [`the order of ${one.process} and ${other.process} is not declared`],
        };
  const chain = processes.toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
  return { holds: true, witness: [chain.map(({ process }) => process).join(' → ')] };
}

/** Every process is reported: “every action the system performed, ordered linearly in time”. */
function auditVerdict(ontology: Ontology): Verdict {
  const { processes, audits } = ontology;
  const above = ascents(ontology);
  const open = processes.filter(
    (process) => !audits.some((audit) => isReported(process, audit, above)),
  );
  if (audits.length === 0) return { holds: false, witness: ['no directive requires a report'] };
  const asked = audits.map(({ term, definition }) => `${term}: ${definition}`);
  if (open.length === 0) return { holds: true, witness: asked };
  return {
    holds: false,
    witness: [...asked, `no directive requires ${open.map(({ process }) => process).join(', ')}`],
  };
}

/**
 * A directive is about a process, or about a thing. A process is something that happens to its
 * participants (§2.1), so a report on a thing has all processes in which the thing takes part.
 */
function isReported(
  { term, participants }: ProcessClass,
  { about }: Entity,
  above: ReadonlyMap<string, Ascent>,
): boolean {
  const kinds = participants.flatMap((one) => [one, ...(above.get(one)?.above ?? [])]);
  return about.some((subject) => subject === term || kinds.includes(subject));
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
          return names === ''
            ? []
            : [`${gated.process} waits by ${rule} for ${time}, which ${names} sets`];
        }),
      ),
  );
  if (witness.length > 0) return { holds: true, witness };
  return { holds: false, witness: ['no process waits for a time that another process sets'] };
}
