import { type LifeCycleStep, type LifeCycleWalk, walkLifeCycle } from '@assize/testing';
import { type Json, thrownText } from 'assize/internal/base';
import { type Domain, initialState } from 'assize/internal/kernel';
import { proposalsOf } from '../drawn-proposals.ts';
import type { Ontology, ProcessClass } from '../ontology.ts';
import type { DraftFinding } from './finding.ts';

/** The numbers of a walk that other checks read. */
export type WalkedCounts = Pick<LifeCycleWalk<Json>, 'committed' | 'stopped'>;

const AT = '2026-06-01T12:00:00.000000Z';
/** The bounds of the walk from the initial state, and of each walk from an example. */
const FROM_INITIAL = { depth: 4, statesMax: 300 } as const;
const FROM_EXAMPLE = { depth: 2, statesMax: 120 } as const;
const EXAMPLES_MAX = 8;
/** Proposals of each action and role on one state. */
const TRIES = 16;

/**
 * Walks the life cycle of the drafted domain over generated proposals, from its initial state and
 * from sound states of its examples. The ontology says what is allowed, and not the domain's rules:
 * a process comes after the processes that the ontology declares to be always before it
 * (`a:after`).
 */
export function lifeCycleFindings(
  domain: Domain,
  ontology: Ontology,
  examples: readonly Json[],
): { readonly findings: readonly DraftFinding[]; readonly counts: WalkedCounts } {
  const counts = { committed: {}, stopped: {} };
  const from = (
    initial: Json,
    bounds: { readonly depth: number; readonly statesMax: number },
  ): LifeCycleWalk<Json> => {
    const walked = walkLifeCycle<Json>({
      ...{ domain, at: AT, initial, ...bounds, proposals: proposalsOf(domain, TRIES) },
      allowed: (_before, step, _after, path) => orderFault(domain, ontology, initial, step, path),
      counselors: Object.fromEntries(
        Object.keys(domain.counselors).map((kind) => [kind, [`${kind}:walking`]]),
      ),
    });
    for (const name of ['committed', 'stopped'] as const) Object.assign(counts[name], walked[name]);
    return walked;
  };
  try {
    const walks = [
      from(initialState(domain) as Json, FROM_INITIAL),
      ...examples.slice(0, EXAMPLES_MAX).map((state) => from(state, FROM_EXAMPLE)),
    ];
    return { findings: [...walks.flatMap(forbiddenSteps), ...unstopped(domain, counts)], counts };
  } catch (error) {
    return { findings: [finding('error', 'module', thrownText(error))], counts };
  }
}

function forbiddenSteps({ counterexample }: LifeCycleWalk<Json>): DraftFinding[] {
  if (counterexample === undefined) return [];
  const { why, path } = counterexample;
  return [
    finding(
      'error',
      `action ${path.at(-1)?.action}`,
      `${why}; the way there: ${JSON.stringify(path)}`,
    ),
  ];
}

function unstopped({ rules }: Domain, { stopped }: WalkedCounts): DraftFinding[] {
  return rules
    .filter(({ id }) => !Object.hasOwn(stopped, id))
    .map(({ id }) => finding('warning', `invariant ${id}`, 'it stopped no proposal of the walk'));
}

function finding(severity: DraftFinding['severity'], where: string, says: string): DraftFinding {
  return { check: 'life_cycle', severity, where, says };
}

/**
 * A process that was committed before one that always comes first, for the same values of the
 * parameters that both have. A domain that begins with content may begin after that process, so
 * only processes count whose components are all empty at the beginning.
 */
function orderFault(
  { actions }: Domain,
  ontology: Ontology,
  initial: Json,
  step: LifeCycleStep,
  path: readonly LifeCycleStep[],
): string | undefined {
  const processOf = (one: LifeCycleStep): string => actions[one.action]?.process ?? '';
  const of = (name: string): ProcessClass | undefined =>
    ontology.processes.find(({ process }) => process === name);
  const named = of(processOf(step));
  const before = ontology.processes.filter(({ term }) => named?.after.includes(term));
  const missing = before.find(
    (first) =>
      beginsEmpty(first, ontology, initial) &&
      !path.some(
        (one) => processOf(one) === first.process && haveSame(one.role.params, step.role.params),
      ),
  );
  return (
    missing &&
    `${named?.process} was committed before ${missing.process}, but that always comes first`
  );
}

function haveSame(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(a).every(([param, value]) => b[param] === undefined || b[param] === value);
}

function beginsEmpty(
  { writes }: ProcessClass,
  { components }: Ontology,
  initial: unknown,
): boolean {
  const paths = components
    .filter(({ term }) => writes.includes(term))
    .flatMap((component) => component.paths);
  return paths.every((path) => {
    const fixed = path.split('/').slice(1);
    const open = fixed.findIndex((key) => key === '*' || key === '-' || key.startsWith('{'));
    const value = (open < 0 ? fixed : fixed.slice(0, open)).reduce<unknown>(
      (at, key) =>
        typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined,
      initial,
    );
    return typeof value === 'object'
      ? value === null || Object.keys(value).length === 0
      : value === undefined;
  });
}
