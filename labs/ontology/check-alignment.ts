import { type Ascent, ascents } from './categories.ts';
import { error, type Finding, warning } from './finding.ts';
import { type Entity, entitiesOf, type Ontology } from './ontology.ts';
import { type Category, DIRECTIVE } from './vocabulary.ts';

/**
 * Whether the classes fit BFO: each is of one category, dependent entities have a bearer,
 * information has a subject, and each process has a participant.
 */
export function* alignment(ontology: Ontology): Iterable<Finding> {
  const ascentOf = ascents(ontology);
  const of = (term: string): Ascent | undefined => ascentOf.get(term);
  const isOf = (term: string, category: Category): boolean =>
    of(term)?.categories.has(category) === true;
  for (const one of entitiesOf(ontology)) yield* category(one, of(one.term) as Ascent);
  for (const one of ontology.processes) {
    yield* mustBe(one, of, ['process'], 'a process');
    const wrong = one.participants.find(
      (term) => of(term) !== undefined && !isOf(term, 'independent continuant'),
    );
    if (wrong !== undefined)
      yield error(
        'wrong_category',
        one,
        `its participant ${wrong} is not an independent continuant`,
        'name the continuant that it happens to',
      );
    if (!one.participants.some((term) => isOf(term, 'independent continuant')))
      yield error(
        'no_participant',
        one,
        'it has no participant',
        'add obo:RO_0000057 (has participant) a continuant',
      );
  }
  for (const one of ontology.components) {
    yield* mustBe(
      one,
      of,
      ['quality', 'disposition', 'role', 'information content entity'],
      'a quality, a disposition, a role or information',
    );
  }
  for (const one of ontology.roles) yield* mustBe(one, of, ['role'], 'a role');
  for (const one of [...ontology.rules, ...ontology.audits])
    if (of(one.term)?.above.has(DIRECTIVE) === false)
      yield error(
        'wrong_category',
        one,
        'it directs, but is not a directive',
        `make it a subclass of ${DIRECTIVE}`,
      );
  for (const one of entitiesOf(ontology)) yield* dependence(one, ontology, isOf);
  yield* primary(ontology);
  for (const one of ontology.unread)
    yield warning(
      'unread',
      one,
      one.says,
      'state it in the words of the vocabulary, or leave it to other tools',
    );
}

function* category(one: Entity, { categories, circular }: Ascent): Iterable<Finding> {
  if (circular)
    yield error('circular', one, 'it is a subclass of itself', 'remove one step of the cycle');
  if (categories.size === 0)
    yield error(
      'no_category',
      one,
      'it is under no category of BFO',
      'make it a subclass of one: obo:BFO_0000040 (material entity), 15 (process), 19 (quality), 23 (role), obo:IAO_0000030 (information)',
    );
  if (categories.size > 1)
    yield error(
      'two_categories',
      one,
      `it is ${[...categories].join(' and ')}, which exclude each other`,
      'choose one, or make two classes for two things',
    );
}

function* mustBe(
  one: Entity,
  of: (term: string) => Ascent | undefined,
  wanted: readonly Category[],
  text: string,
): Iterable<Finding> {
  const categories = [...(of(one.term)?.categories ?? [])];
  if (categories.length !== 1 || wanted.includes(categories[0] as Category)) return;
  const as = one.described[0] ?? 'class';
  yield error(
    'wrong_category',
    one,
    `as a ${as} it must be ${text}, but is a ${categories[0]}`,
    'change its superclass',
  );
}

/**
 * The method adds workers (§2.2), so a worker's role needs no bearer among the domain's
 * continuants.
 */
function* dependence(
  one: Entity,
  { components, roles, others }: Ontology,
  isOf: (term: string, category: Category) => boolean,
): Iterable<Finding> {
  const isKind =
    others.includes(one) &&
    one.inheresIn.length === 0 &&
    one.about.length === 0 &&
    isAbove(one, components);
  if (isKind || roles.some(({ term }) => term === one.term)) return;
  const depends = (['quality', 'disposition', 'role'] as const).some((kind) =>
    isOf(one.term, kind),
  );
  if (depends && !one.inheresIn.some((term) => isOf(term, 'independent continuant')))
    yield error(
      'no_bearer',
      one,
      'it does not inhere in an independent continuant',
      'add obo:RO_0000052 (inheres in) its bearer',
    );
  if (
    isOf(one.term, 'information content entity') &&
    one.about.length === 0 &&
    !isRuleWithSubject(one)
  )
    yield error(
      'not_about',
      one,
      'it has no subject',
      'add obo:IAO_0000136 (is about) its subject',
    );
}

/** A class that others are kinds of leaves to them what they inhere in. */
function isAbove(one: Entity, components: readonly Entity[]): boolean {
  return components.some(({ parents }) => parents.includes(one.term));
}

/** A rule is about what it refers to. */
function isRuleWithSubject(one: Entity): boolean {
  return 'refersTo' in one && (one.refersTo as readonly string[]).length > 0;
}

function* primary({ iri, continuants }: Ontology): Iterable<Finding> {
  const primaries = continuants.filter(({ primary: is }) => is);
  if (primaries.length === 1) return;
  const [, second] = primaries;
  if (second === undefined)
    yield error(
      'primary',
      { term: `<${iri}>`, line: 0 },
      'no continuant is the primary one',
      'make one `a a:PrimaryContinuant`',
    );
  else
    yield error(
      'primary',
      second,
      `${primaries.map(({ term }) => term).join(' and ')} are both primary`,
      'keep the one that the processes happen to',
    );
}
