import { error, type Finding, type FindingCode, warning } from './finding.ts';
import { didYouMean } from './nearest.ts';
import { type Entity, entitiesOf, type Ontology } from './ontology.ts';
import { openPath } from './paths.ts';
import { UPPER } from './vocabulary.ts';

/**
 * Checks labels and definitions, names that are used twice, and references to missing terms or to
 * terms of another kind.
 */
export function* names(ontology: Ontology): Iterable<Finding> {
  const { components, processes, roles, rules } = ontology;
  const all = entitiesOf(ontology);
  for (const one of all) {
    if (one.label === '') yield error('no_label', one, 'it has no label', 'add rdfs:label "…"');
    if (one.definition === '')
      yield error(
        'no_definition',
        one,
        'it has no definition',
        'add skos:definition "…": its genus and difference',
      );
    if (one.described.length > 1)
      yield error(
        'described_twice',
        one,
        `it is described as ${one.described.join(' and as ')}`,
        'make it two classes',
      );
  }
  yield* twice(all, ({ term }) => [term], 'same_term', 'class');
  yield* twice(processes, ({ process }) => [process], 'same_name', 'process');
  yield* twice(roles, ({ role }) => [role], 'same_name', 'role');
  yield* twice(rules, ({ rule }) => [rule], 'same_name', 'rule');
  // Ignores the names of parameters: two components at one place would overlap unnoticed.
  yield* twice(
    components,
    ({ paths }) => [...new Set(paths.map((path) => openPath(path)))],
    'same_path',
    'path',
  );
  yield* unnamed(ontology);
  yield* references(ontology, all);
}

function* unnamed({ processes, roles, rules }: Ontology): Iterable<Finding> {
  for (const one of processes)
    if (one.process === '')
      yield error('no_process_name', one, 'its name is empty', 'add a:process "name"');
  for (const one of roles)
    if (one.role === '') yield error('same_name', one, 'it has no name', 'add a:role "Name"');
  for (const one of rules)
    if (one.rule === '') yield error('same_name', one, 'it has no id', 'add a:rule "ID"');
}

function* twice<T extends Entity>(
  list: readonly T[],
  namesOf: (one: T) => readonly string[],
  code: FindingCode,
  what: string,
): Iterable<Finding> {
  const known = new Map<string, T>();
  for (const one of list)
    for (const name of namesOf(one)) {
      const first = known.get(name);
      if (first === undefined) known.set(name, one);
      else
        yield error(
          code,
          one,
          `${first.term} has the ${what} ${name} already`,
          'choose another one',
        );
    }
}

function* references(ontology: Ontology, all: readonly Entity[]): Iterable<Finding> {
  const terms = (list: readonly Entity[]): ReadonlySet<string> =>
    new Set(list.map(({ term }) => term));
  const components = terms(ontology.components);
  const processes = terms(ontology.processes);
  const rules = terms(ontology.rules);
  const classes = terms(all);
  const known = [...classes, ...Object.keys(UPPER)];
  function* each(
    of: Entity,
    property: string,
    given: readonly string[],
    wanted: ReadonlySet<string>,
    sort: string,
  ): Iterable<Finding> {
    for (const term of given) {
      if (wanted.has(term)) continue;
      const what = classes.has(term) ? `${term} is not a ${sort}` : `there is no ${term}`;
      const todo = classes.has(term)
        ? `name a ${sort}`
        : `describe it, or name another term.${didYouMean(term, wanted)}`;
      yield error('unknown_reference', of, `${property} names ${term}; ${what}`, todo);
    }
  }
  for (const one of all) {
    yield* each(one, 'rdfs:subClassOf', one.parents, new Set(known), 'class');
    yield* each(one, 'inheres in', one.inheresIn, classes, 'class');
    yield* each(one, 'is about', one.about, classes, 'class');
  }
  for (const one of ontology.processes) {
    yield* each(one, 'has participant', one.participants, classes, 'class');
    yield* each(one, 'a:reads', one.reads, components, 'component');
    yield* each(one, 'a:writes', one.writes, components, 'component');
    yield* each(one, 'a:after', one.after, processes, 'process');
    yield* each(one, 'a:precondition', one.preconditions, rules, 'rule');
    yield* each(one, 'a:apartFrom', one.apartFrom, processes, 'process');
    yield* each(one, 'a:togetherWith', one.togetherWith, processes, 'process');
  }
  for (const one of ontology.roles)
    yield* each(one, 'realized in', one.realizedIn, processes, 'process');
  for (const one of ontology.rules) {
    yield* each(one, 'a:refersTo', one.refersTo, components, 'component');
    yield* each(one, 'a:after', one.after, processes, 'process');
    yield* each(one, 'a:notBefore', one.notBefore, components, 'component');
  }
  const unused = ontology.others.filter(({ term }) => term.startsWith('<'));
  for (const one of unused)
    yield warning(
      'unknown_reference',
      one,
      'it is not a term of this ontology',
      'write terms of the domain as :Name',
    );
}
