import { checkDomain } from '@assize/testing';
import { errorMessage, type Json } from 'assize/internal/base';
import { type Domain, detectionVector, firstFinding, stateFault } from 'assize/internal/kernel';
import { compare } from '../compare.ts';
import type { Ontology } from '../ontology.ts';
import { type DraftFinding, errorsIn } from './finding.ts';
import { fingerprintFindings } from './judge-fingerprint.ts';
import { lifeCycleFindings, type WalkedCounts } from './judge-life-cycle.ts';
import type { TrialWork } from './trial.ts';

/** Proposals of `checkDomain`. The same number finds the same faults. */
const RUNS = 300;

/**
 * All findings on a drafted domain. The walk and the search for write skew run only on a domain
 * without an error of the other checks: they would find the same error again.
 */
export function judgeDomain(
  domain: Domain,
  ontology: Ontology,
  examples: TrialWork['examples'],
): DraftFinding[] {
  const report = checkDomain(domain, { runs: RUNS });
  const first = [...differences(domain, ontology), ...exampleFindings(domain, examples)];
  if (!report.ok || errorsIn(first) > 0) return [...first, ...reportFindings(report, undefined)];
  const states = soundStates(domain, examples);
  const { findings, counts } = lifeCycleFindings(domain, ontology, states);
  return [
    ...first,
    ...reportFindings(report, counts.committed),
    ...findings,
    ...fingerprintFindings(domain, ontology, states),
  ];
}

function differences(domain: Domain, ontology: Ontology): DraftFinding[] {
  return compare(ontology, domain).map(({ about, name, says }) => ({
    check: 'ontology',
    severity: 'error',
    where: `${about} ${name}`,
    says,
  }));
}

/** Each example has a valid state, and its invariant says of it what the example shows. */
function exampleFindings(domain: Domain, examples: TrialWork['examples']): DraftFinding[] {
  return examples.flatMap(({ id, blocks, passes }) =>
    [
      ...blocks.map((state) => ({ state, name: 'blocks', isPass: false })),
      ...passes.map((state) => ({ state, name: 'passes', isPass: true })),
    ].flatMap(({ state, name, isPass }): DraftFinding[] => {
      const says = exampleFault(domain, id, state, isPass);
      return says === undefined
        ? []
        : [{ check: 'examples', severity: 'error', where: `invariant ${id}: ${name}`, says }];
    }),
  );
}

function exampleFault(
  domain: Domain,
  id: string,
  state: unknown,
  isPass: boolean,
): string | undefined {
  const text = JSON.stringify(state);
  try {
    const fault = stateFault(domain.state, state as never);
    if (fault !== undefined)
      return `the state ${text} does not fit the schema: ${JSON.stringify(fault)}`;
    const said = detectionVector(domain, state as never).find(
      ({ invariant_id }) => invariant_id === id,
    )?.result;
    if ((said === 'pass') === isPass) return undefined;
    return `the invariant returns ${said} on ${text}, which it must ${isPass ? 'let pass' : 'block'}`;
  } catch (error) {
    return `on ${text} the invariant throws: ${errorMessage(error) ?? 'no readable error'}`;
  }
}

/** The examples in which every invariant passes. A walk can begin there. */
function soundStates(domain: Domain, examples: TrialWork['examples']): Json[] {
  const states = examples.flatMap(({ passes }) => passes);
  return states.filter((state) => firstFinding(domain, state as never) === undefined);
}

/**
 * Warnings that are errors of a draft: its schemas, its rules and its counselors are its own work.
 * The examples show that a rule blocks and passes, and the walk may commit an action that random
 * proposals did not.
 */
const GRAVE: ReadonlySet<string> = new Set([
  'loose_schema',
  'bad_result',
  'no_counselor',
  'no_values',
  'throws',
]);

function reportFindings(
  { problems }: ReturnType<typeof checkDomain>,
  committed: WalkedCounts['committed'] | undefined,
): DraftFinding[] {
  return problems.flatMap(({ kind, level, where, sentence, counterexample }): DraftFinding[] => {
    if (kind === 'never_violated' || kind === 'always_fails' || kind === 'never_judged') return [];
    const isDone = where.startsWith('action ') && Object.hasOwn(committed ?? {}, where.slice(7));
    if (kind === 'never_done' && isDone) return [];
    const isGrave =
      level === 'error' || GRAVE.has(kind) || (kind === 'never_done' && committed !== undefined);
    const shown =
      counterexample === undefined ? '' : `; smallest case: ${JSON.stringify(counterexample)}`;
    const severity = isGrave ? 'error' : 'warning';
    return [{ check: 'check_domain', severity, where, says: `${sentence} (${kind})${shown}` }];
  });
}
