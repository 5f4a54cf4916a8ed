import { error, type Finding, warning } from './finding.ts';
import { Footprints } from './footprints.ts';
import type { Ontology, PolicyRule, ProcessClass } from './ontology.ts';
import { earlier } from './order.ts';
import { paramsOf } from './paths.ts';

/**
 * Whether processes access components, rules refer to components, and the order, gates and
 * divisions of the work make sense.
 */
export function* workRules(ontology: Ontology): Iterable<Finding> {
  const footprints = new Footprints(ontology);
  for (const one of ontology.processes)
    if (one.reads.length + one.writes.length === 0)
      yield error(
        'touches_nothing',
        one,
        'it accesses no component of the state',
        'name the components that it reads or writes',
      );
  yield* order(ontology);
  for (const one of ontology.rules) yield* rule(one, ontology, footprints);
  yield* sameOrder(ontology.rules);
  for (const one of ontology.audits)
    if (one.about.length === 0)
      yield error(
        'not_about',
        one,
        'it audits no process',
        'name them with obo:IAO_0000136 (is about)',
      );
  yield* divisions(ontology);
  for (const one of ontology.roles)
    if (one.realizedIn.length === 0)
      yield error(
        'same_role',
        one,
        'it is realized in no process',
        'name one of its processes with obo:BFO_0000054',
      );
}

function* order(ontology: Ontology): Iterable<Finding> {
  const before = earlier(ontology);
  for (const one of ontology.processes)
    if (before.get(one.term)?.has(one.term))
      yield error(
        'circular',
        one,
        `it comes after itself: ${[...(before.get(one.term) ?? [])].join(', ')}`,
        'remove one a:after of the cycle, of a process or of a precondition’s rule',
      );
}

function* rule(one: PolicyRule, ontology: Ontology, footprints: Footprints): Iterable<Finding> {
  if (one.order === Number.MAX_SAFE_INTEGER)
    yield error(
      'no_order',
      one,
      'it has no order among the rules',
      'add a:order, a whole number: the first rule that does not pass decides',
    );
  if (one.refersTo.length === 0)
    yield error(
      'refers_to_nothing',
      one,
      'it refers to no component, so no change can break it',
      'add a:refersTo',
    );
  const params = paramsOf(footprints.pathsOf(one.refersTo));
  for (const param of one.forEach)
    if (!params.includes(param))
      yield warning(
        'unknown_parameter',
        one,
        `it is for each ${param}, which is in no path that it refers to`,
        `name one of its parameters with a:forEach: ${params.join(', ') || 'it has none, so remove a:forEach'}`,
      );
  if (one.onFailure !== 'reject' && one.onFailure !== 'escalate')
    yield error(
      'bad_failure',
      one,
      `its a:onFailure "${one.onFailure}" is not valid`,
      'write a:onFailure "reject" or "escalate"',
    );
  if ((one.onFailure === 'escalate') !== (one.counselor !== ''))
    yield error(
      'bad_failure',
      one,
      one.counselor === ''
        ? 'it escalates without a counselor'
        : `it names ${one.counselor} but does not escalate`,
      'add both a:onFailure "escalate" and a:counselor "kind", or neither',
    );
  if (one.source === '') yield warning('no_source', one, 'it has no source', 'add dct:source "…"');
  const gated = ontology.processes.filter(({ preconditions }) => preconditions.includes(one.term));
  yield* precondition(one, gated, ontology, footprints);
}

/**
 * Procedure 2, step 2: the components of a precondition are written by the earlier processes, or
 * are in the footprint of the gated process. At least one is written by an earlier process.
 */
function* precondition(
  one: PolicyRule,
  gated: readonly ProcessClass[],
  { processes, components }: Ontology,
  footprints: Footprints,
): Iterable<Finding> {
  if (gated.length === 0) {
    if (one.after.length + one.notBefore.length > 0)
      yield error(
        'gates_nothing',
        one,
        'it is a precondition but gates no process',
        'name it as a:precondition of the waiting process',
      );
    return;
  }
  for (const term of one.notBefore) {
    const component = components.find((candidate) => candidate.term === term);
    if (component?.timed === false)
      yield error(
        'not_timed',
        one,
        `it waits for ${term}, which is not a time`,
        `make ${term} a subclass of a:TimedComponent`,
      );
  }
  const earlier = processes.filter(({ term }) => one.after.includes(term));
  const written = footprints.closed(earlier.flatMap(({ writes }) => [...writes]));
  const reach = new Set([...written, ...gated.flatMap((process) => [...footprints.of(process)])]);
  // A rule may name a row, and the process may touch a part of it.
  const outside = one.refersTo.filter((term) => footprints.meeting([term], reach).length === 0);
  if (outside.length > 0)
    yield error(
      'precondition_footprint',
      one,
      `it refers to ${outside.join(', ')}, which ${text(earlier)} does not write and ${text(gated)} does not access`,
      'a precondition reads components that the earlier process writes or the gated one accesses',
    );
  const missed = earlier.filter(
    ({ writes }) => footprints.meeting(one.refersTo, footprints.closed(writes)).length === 0,
  );
  if (missed.length > 0)
    yield error(
      'precondition_footprint',
      one,
      `it reads no component that ${text(missed)} writes, so it cannot detect that process`,
      'refer to a component that the earlier process writes',
    );
}

function text(processes: readonly ProcessClass[]): string {
  return processes.map(({ term }) => term).join(', ') || 'no process';
}

function* sameOrder(rules: readonly PolicyRule[]): Iterable<Finding> {
  const known = new Map<number, PolicyRule>();
  for (const one of rules) {
    const first = known.get(one.order);
    if (first === undefined) known.set(one.order, one);
    else if (one.order !== Number.MAX_SAFE_INTEGER)
      yield error(
        'same_order',
        one,
        `it has the same order as ${first.term}, ${one.order}`,
        'give each rule its own order',
      );
  }
}

/**
 * Rules of the policy about processes that must be together or apart. Each has a reason, and never
 * both.
 */
function* divisions({ processes, others, rules }: Ontology): Iterable<Finding> {
  for (const one of processes) {
    for (const other of [...one.apartFrom, ...one.togetherWith]) {
      if (other === one.term)
        yield error('contradiction', one, 'it is compared with itself', 'name another process');
      const reason = [...others, ...rules].some(
        ({ about }) => about.includes(one.term) && about.includes(other),
      );
      if (!reason)
        yield error(
          'no_reason',
          one,
          `no directive explains why it is apart from, or together with, ${other}`,
          `add a directive (obo:IAO_0000033) that is about ${one.term} and ${other}`,
        );
    }
  }
  const joined = joinedGroups(processes);
  for (const one of processes)
    for (const other of one.apartFrom)
      if (joined.get(one.term) !== undefined && joined.get(one.term) === joined.get(other))
        yield error(
          'contradiction',
          one,
          `it is both apart from and together with ${other}`,
          'keep one of the two',
        );
}

/**
 * The group number of each process. Processes that are declared together, directly or over several
 * steps, have the same number.
 */
function joinedGroups(processes: readonly ProcessClass[]): ReadonlyMap<string, number> {
  const group = new Map(processes.map(({ term }, i) => [term, i]));
  for (const { term, togetherWith } of processes)
    for (const other of togetherWith) {
      const [to, from] = [group.get(term), group.get(other)];
      if (to === undefined || from === undefined) continue;
      for (const [name, at] of group) if (at === from) group.set(name, to);
    }
  return group;
}
