import { arg, checkArgument } from 'assize/internal/base';
import { isInstant } from 'assize/internal/canon';
import { type Domain, requireOwnDomain } from 'assize/internal/kernel';
import { OntologyError } from '../errors.ts';
import { Footprints } from '../footprints.ts';
import type { Ontology, ProcessClass } from '../ontology.ts';
import { earlier } from '../order.ts';
import { type DerivedRole, deriveRoles } from '../roles.ts';
import { contradictions, pathOrder } from './path-order.ts';
import { type Rehearsal, type RehearsedStep, rehearse, type Walk } from './rehearsal.ts';

/** How a process passed in the run of the domain. */
export type Passing = 'alone' | 'with a counselor' | 'not reached' | 'not run';

/** A process of the primary continuant's journey. */
export interface PathStep {
  readonly process: string;
  /** The derived role that performs it. */
  readonly role: string;
  /** Components, by term. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** The rules that wait at its entry. */
  readonly preconditions: readonly string[];
  /** All rules that may stop it: its preconditions, and those that refer to what it writes. */
  readonly rules: readonly string[];
  /** Those of them that escalate. */
  readonly escalations: readonly { readonly rule: string; readonly counselor: string }[];
  readonly passes: Passing;
  /** A proposal that passed. */
  readonly by?: RehearsedStep;
}

export interface HappyPath {
  readonly domain: string;
  /** Label of the primary continuant. */
  readonly continuant: string;
  /** In the order in which they take place when nothing is rejected. */
  readonly steps: readonly PathStep[];
  /** Exception handlers: they pass only with a counselor, and the path goes on without them. */
  readonly beside: readonly PathStep[];
  /**
   * `on the path`: a step passes only with a counselor. `beside`: a counselor is asked only in
   * exceptions. `none`: no rule escalates. `open`: a process that may escalate was not reached.
   */
  readonly counselor: 'on the path' | 'beside' | 'none' | 'open';
  /** Where the run took place in another order than the ontology declares. */
  readonly contradictions: readonly string[];
  /** Number of states on which proposals were drawn. 0 without a run. */
  readonly states: number;
}

export interface HappyPathOptions {
  /** As for `deriveRoles`. */
  readonly threshold?: number;
  /** A run of the domain. The default is a run of drawn proposals. */
  readonly walk?: Walk;
  /** How many drawn proposals one after the other. Default: 2 after a walk, or else 6 */
  readonly depth?: number;
  /** How many states of each depth are looked at. Default: 24 */
  readonly width?: number;
  /** How many proposals of each action and role are drawn on each state. Default: 24 */
  readonly tries?: number;
}

const PROPOSAL = arg.members({
  action: arg.text,
  role: arg.members({ name: arg.text, params: arg.record(arg.text) }),
  args: arg.any,
  at: arg.optional(arg.of('an instant', isInstant)),
});
const OPTIONS = arg.members({
  threshold: arg.optional(
    arg.of('a number from 0', (value) => typeof value === 'number' && value >= 0),
  ),
  walk: arg.optional(
    arg.members({
      domain: arg.text,
      at: arg.of('an instant', isInstant),
      initial: arg.any,
      counselors: arg.optional(arg.record(arg.list(arg.text))),
      proposals: arg.list(PROPOSAL),
      exceptions: arg.optional(arg.list(PROPOSAL)),
    }),
  ),
  depth: arg.optional(arg.whole),
  width: arg.optional(arg.wholeFrom(1)),
  tries: arg.optional(arg.wholeFrom(1)),
});
const DOMAIN = arg.members({
  name: arg.text,
  actions: arg.record(arg.members({ process: arg.text })),
});

/**
 * The happy path of a domain: the processes of its continuant's journey when nothing is rejected
 * (seed 000, §3.2.1 and figure 7). The order is the declared one. With the domain, the kernel runs
 * it, the run completes the order, and shows whether a counselor is on the path or an exception
 * handler (§3.2.2). “Passes only with a counselor” holds within the drawn proposals.
 *
 * @throws OntologyError `unsound`, `bad_state`, `bad_walk`; ArgumentError `bad_argument`
 */
export function happyPath(
  ontology: Ontology,
  domain?: Domain<any, any, any>,
  options: HappyPathOptions = {},
): HappyPath {
  checkArgument(OPTIONS, options, 'options');
  const { threshold } = options;
  const { roles } = deriveRoles(ontology, threshold === undefined ? {} : { threshold });
  if (domain === undefined && options.walk !== undefined)
    throw new OntologyError(
      'bad_walk',
      `A walk of ${options.walk.domain} needs the domain. Pass it.`,
    );
  const run = domain === undefined ? undefined : rehearsalOf(ontology, domain, options);
  const footprints = new Footprints(ontology);
  const order = pathOrder(ontology, run?.order ?? []);
  const all = order.map((process) => stepOf(ontology, process, { roles, run, footprints }));
  const beside = handlersOf(all, earlierByName(ontology));
  const steps = all.filter((step) => !beside.includes(step));
  const primary = ontology.continuants.find((one) => one.primary);
  return {
    domain: ontology.domain,
    continuant: primary?.label || (primary?.term ?? ''),
    ...{ steps, beside, counselor: counselorOf(steps, beside) },
    contradictions: contradictions(ontology, run?.order ?? []),
    states: run?.states ?? 0,
  };
}

function rehearsalOf(ontology: Ontology, domain: Domain, options: HappyPathOptions): Rehearsal {
  checkArgument(DOMAIN, domain, 'domain');
  requireOwnDomain(domain);
  const { walk, depth = walk === undefined ? 6 : 2, width = 24, tries = 24 } = options;
  for (const name of [domain.name, walk?.domain ?? domain.name])
    if (name !== ontology.domain)
      throw new OntologyError(
        'bad_walk',
        `The ontology describes ${ontology.domain}, and not ${name}. Pass its domain.`,
      );
  const known = new Set(ontology.processes.map(({ process }) => process));
  const unknown = Object.values(domain.actions).find(({ process }) => !known.has(process));
  if (unknown !== undefined)
    throw new OntologyError(
      'bad_walk',
      `The domain performs ${unknown.process}, and the ontology has no such process. Compare them with assize-experiments ontology check --domain.`,
    );
  return rehearse(domain, walk, { depth, width, tries });
}

interface Known {
  readonly roles: readonly DerivedRole[];
  readonly run: Rehearsal | undefined;
  readonly footprints: Footprints;
}

function stepOf(
  { rules }: Ontology,
  { process, reads, writes, preconditions }: ProcessClass,
  { roles, run, footprints }: Known,
): PathStep {
  const stopping = rules.filter(
    ({ term, refersTo }) =>
      preconditions.includes(term) || footprints.meeting(refersTo, writes).length > 0,
  );
  const by = run?.passed.get(process);
  return {
    process,
    role: roles.find(({ processes }) => processes.includes(process))?.name ?? '',
    ...{ reads, writes },
    preconditions: stopping
      .filter(({ term }) => preconditions.includes(term))
      .map(({ rule }) => rule),
    rules: stopping.map(({ rule }) => rule),
    escalations: stopping
      .filter(({ counselor }) => counselor !== '')
      .map(({ rule, counselor }) => ({ rule, counselor })),
    passes: run === undefined ? 'not run' : passingOf(by),
    ...(by !== undefined && { by }),
  };
}

function passingOf(by: RehearsedStep | undefined): Passing {
  if (by === undefined) return 'not reached';
  return by.approvedBy === undefined ? 'alone' : 'with a counselor';
}

/**
 * The exception handlers. They pass only with a counselor, and nothing on the path waits for them.
 * After each process that they wait for, the path has another way to go on.
 */
function handlersOf(
  all: readonly PathStep[],
  before: ReadonlyMap<string, ReadonlySet<string>>,
): PathStep[] {
  const waits = (one: PathStep, other: PathStep): boolean =>
    before.get(one.process)?.has(other.process) === true;
  const free = all.filter(({ passes }) => passes !== 'with a counselor');
  const goesOn = (step: PathStep): boolean => free.some((one) => waits(one, step));
  const isEnd = (step: PathStep): boolean => free.some((one) => waits(step, one) && !goesOn(one));
  const needed = free.length === 0 ? all : all.filter((step) => free.includes(step) || isEnd(step));
  return all.filter((step) => !needed.includes(step) && !needed.some((one) => waits(one, step)));
}

function earlierByName(ontology: Ontology): ReadonlyMap<string, ReadonlySet<string>> {
  const nameOf = new Map(ontology.processes.map(({ term, process }) => [term, process]));
  const named = (terms: ReadonlySet<string>): Set<string> =>
    new Set([...terms].map((term) => nameOf.get(term) ?? term));
  return new Map(
    [...earlier(ontology)].map(([term, terms]) => [nameOf.get(term) ?? term, named(terms)]),
  );
}

function counselorOf(
  steps: readonly PathStep[],
  beside: readonly PathStep[],
): HappyPath['counselor'] {
  if (steps.some(({ passes }) => passes === 'with a counselor')) return 'on the path';
  const asking = [...steps, ...beside].filter(({ escalations }) => escalations.length > 0);
  if (asking.some(({ passes }) => passes === 'not run' || passes === 'not reached')) return 'open';
  return asking.length > 0 || beside.length > 0 ? 'beside' : 'none';
}
