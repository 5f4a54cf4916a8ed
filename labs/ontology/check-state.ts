import { ascents } from './categories.ts';
import { error, type Finding, warning } from './finding.ts';
import { Footprints } from './footprints.ts';
import type { Ontology } from './ontology.ts';
import { pathFault } from './paths.ts';
import { DIRECTIVE } from './vocabulary.ts';

/** Whether the state's components have places, and something that touches them. */
export function* stateRules(ontology: Ontology): Iterable<Finding> {
  const { components, processes, rules } = ontology;
  for (const one of components)
    for (const path of one.paths) {
      const fault = path === '' ? 'it is the whole state' : pathFault(path);
      if (fault !== undefined)
        yield error(
          'bad_path',
          one,
          `the path ${path} cannot be used: ${fault}`,
          'write a JSON pointer: /claims/{patient}, /orders/*, /log/-',
        );
    }
  yield* withoutPath(ontology);
  const footprints = new Footprints({
    ...ontology,
    components: components.filter(({ paths }) => paths.every((p) => pathFault(p) === undefined)),
  });
  const touched = [
    ...processes.flatMap(({ reads, writes }) => [...reads, ...writes]),
    ...rules.flatMap(({ refersTo }) => refersTo),
  ];
  const met = footprints.closed(touched);
  for (const one of components)
    if (!met.has(one.term))
      yield warning(
        'untouched',
        one,
        'no process accesses it and no rule refers to it',
        'name a process that reads or writes it, or remove it',
      );
}

/** A term that can only be a field of the state must have a path. */
function* withoutPath(ontology: Ontology): Iterable<Finding> {
  const above = ascents(ontology);
  const kinds = new Set([...above.values()].flatMap((ascent) => [...ascent.above].slice(1)));
  for (const one of ontology.others) {
    const { categories, above: chain } = above.get(one.term) as NonNullable<
      ReturnType<typeof above.get>
    >;
    if (categories.size !== 1 || kinds.has(one.term)) continue;
    const [category] = categories;
    if (category === 'process')
      yield error(
        'no_process_name',
        one,
        'it is a process without a name in the domain',
        'add a:process "name"',
      );
    else if (
      category === 'quality' ||
      category === 'disposition' ||
      category === 'role' ||
      (category === 'information content entity' && !chain.has(DIRECTIVE))
    )
      yield error(
        'no_path',
        one,
        `it is a ${category} of the state without a path`,
        'add a:path "/…"',
      );
  }
}
