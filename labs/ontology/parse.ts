import { arg, checkArgument } from 'assize/internal/base';
import { OntologyError } from './errors.ts';
import { didYouMean } from './nearest.ts';
import type { Description, Entity, Ontology } from './ontology.ts';
import { badValue, readTurtle, type Statements, type Value } from './turtle.ts';
import {
  HAS_PARTICIPANT,
  IAO_DEFINITION,
  INHERES_IN,
  IS_ABOUT,
  MARKS,
  NAMESPACES,
  PROPERTIES,
  REALIZED_IN,
  SINGLE,
  UPPER,
  upperChain,
} from './vocabulary.ts';

/**
 * The ontology of a Turtle text. The ontology can still have problems. `check` reports them.
 *
 * @throws OntologyError `bad_turtle`, `no_ontology`, `unknown_term`, `bad_value`; each names the
 *   place and the fix
 */
export function parse(text: string): Ontology {
  checkArgument(arg.text, text, 'text');
  const statements = readTurtle(text);
  requireVocabulary(statements);
  requireNames(statements);
  requireOnly(statements);
  requireUpperClasses(statements);
  const header = headerOf(statements);
  const said = [...statements.subjects.keys()]
    .filter((term) => term !== header && UPPER[term] === undefined && isClass(statements, term))
    .filter((term) => !isMergedHeader(statements, term))
    .map((term) => new SubjectStatements(statements, term));
  for (const one of said) one.requireUses();
  const described = (as: Description): SubjectStatements[] =>
    said.filter((one) => one.described[0] === as);
  const plain = said.filter((one) => one.described.length === 0);
  const isContinuant = continuantsOf(statements);
  const about = new SubjectStatements(statements, header);
  return {
    iri: header.replace(/^<|>$/g, ''),
    domain: about.text('a:domain'),
    title: about.text('dct:title'),
    description: about.text('dct:description'),
    source: about.texts('dct:source').join('; '),
    continuants: plain
      .filter(({ term }) => isContinuant(term))
      .map((one) => ({ ...one.entity(), primary: one.has('a:PrimaryContinuant') })),
    components: described('component').map((one) => ({
      ...one.entity(),
      paths: one.texts('a:path'),
      timed: one.has('a:TimedComponent'),
    })),
    processes: described('process').map((one) => ({
      ...one.entity(),
      process: one.text('a:process'),
      participants: one.terms(HAS_PARTICIPANT),
      reads: one.terms('a:reads'),
      writes: one.terms('a:writes'),
      after: one.terms('a:after'),
      preconditions: one.terms('a:precondition'),
      apartFrom: one.terms('a:apartFrom'),
      togetherWith: one.terms('a:togetherWith'),
    })),
    roles: described('worker role').map((one) => ({
      ...one.entity(),
      role: one.text('a:role'),
      realizedIn: one.terms(REALIZED_IN),
    })),
    rules: described('rule')
      .map((one) => ({
        ...one.entity(),
        rule: one.text('a:rule'),
        order: one.number('a:order'),
        refersTo: one.terms('a:refersTo'),
        forEach: one.texts('a:forEach'),
        onFailure: one.text('a:onFailure') || 'reject',
        counselor: one.text('a:counselor'),
        after: one.terms('a:after'),
        notBefore: one.terms('a:notBefore'),
      }))
      .sort((a, b) => a.order - b.order),
    audits: described('audit requirement').map((one) => one.entity()),
    others: plain.filter(({ term }) => !isContinuant(term)).map((one) => one.entity()),
    unread: statements.unread.map(({ subject, says }) => ({
      term: subject,
      line: statements.lineOf(subject),
      says,
    })),
  };
}

/** A rule without a place comes after all others. */
const LAST = Number.MAX_SAFE_INTEGER;

/** The statements of a text about one subject. */
class SubjectStatements {
  readonly term: string;
  readonly #statements: Statements;

  constructor(statements: Statements, term: string) {
    this.#statements = statements;
    this.term = term;
  }

  get described(): Description[] {
    const as: [Description, boolean][] = [
      ['process', this.#values('a:process').length > 0],
      ['rule', this.#values('a:rule').length > 0],
      ['worker role', this.#values('a:role').length > 0 || this.has('a:WorkerRole')],
      ['audit requirement', this.has('a:AuditRequirement')],
      ['component', this.#values('a:path').length > 0],
    ];
    return as.filter(([, is]) => is).map(([name]) => name);
  }

  /** A property of a wrong kind of term would have no reader. */
  requireUses(): void {
    for (const [property, wanted] of Object.entries(USES)) {
      if (this.#values(property).length === 0 || this.described.some((as) => wanted.includes(as)))
        continue;
      const [as] = this.described;
      const what =
        as === undefined
          ? `none; add ${WORD_OF[wanted[0] as Description]} "name"`
          : withArticle(as);
      throw this.#bad(property, `is for a ${wanted.join(' or a ')}, and this is ${what}`);
    }
  }

  entity(): Entity {
    return {
      term: this.term,
      line: this.#statements.lineOf(this.term),
      label: this.text('rdfs:label'),
      definition: this.text('skos:definition') || this.text(IAO_DEFINITION),
      source: this.texts('dct:source').join('; '),
      parents: this.terms('rdfs:subClassOf').filter((parent) => !parent.startsWith('a:')),
      inheresIn: this.terms(INHERES_IN),
      about: this.terms(IS_ABOUT),
      described: this.described,
    };
  }

  /** Whether it is marked so, as an instance or as a kind. */
  has(mark: (typeof MARKS)[number]): boolean {
    return [...this.terms('rdf:type'), ...this.terms('rdfs:subClassOf')].includes(mark);
  }

  text(property: string): string {
    return this.texts(property)[0] ?? '';
  }

  texts(property: string): string[] {
    return this.#values(property).map((value) => ('text' in value ? value.text : value.term));
  }

  terms(property: string): string[] {
    return this.#values(property).map((value) => {
      if ('term' in value) return value.term;
      throw this.#bad(property, `takes a term, not the string "${value.text}"; write it as :Name`);
    });
  }

  number(property: string): number {
    const [value] = this.texts(property);
    if (value === undefined) return LAST;
    if (/^\d{1,9}$/.test(value)) return Number(value);
    throw this.#bad(property, `takes a whole number from 0, not ${value}`);
  }

  #values(property: string): readonly Value[] {
    const values = this.#statements.subjects.get(this.term)?.get(property) ?? [];
    if (values.length > 1 && SINGLE.has(property))
      throw this.#bad(property, `occurs ${values.length} times; keep one`);
    const [first] = values;
    if (
      PROPERTIES[property as keyof typeof PROPERTIES] === 'text' &&
      first !== undefined &&
      'term' in first
    )
      throw this.#bad(property, `takes a string, not the term ${first.term}; write it in quotes`);
    return values;
  }

  #bad(property: string, problem: string): OntologyError {
    return badValue(this.#statements, this.term, `${property} ${problem}`);
  }
}

/** The properties of each kind of term, and of no other kind. */
const OF_PROCESS: readonly Description[] = ['process'];
const OF_RULE: readonly Description[] = ['rule'];
const USES: Readonly<Record<string, readonly Description[]>> = {
  'a:reads': OF_PROCESS,
  'a:writes': OF_PROCESS,
  'a:precondition': OF_PROCESS,
  'a:apartFrom': OF_PROCESS,
  'a:togetherWith': OF_PROCESS,
  'a:after': [...OF_PROCESS, ...OF_RULE],
  'a:refersTo': OF_RULE,
  'a:order': OF_RULE,
  'a:forEach': OF_RULE,
  'a:onFailure': OF_RULE,
  'a:counselor': OF_RULE,
  'a:notBefore': OF_RULE,
};

/** The properties that define the kind of a term. */
const WORD_OF: { readonly [As in Description]?: string } = { process: 'a:process', rule: 'a:rule' };

function withArticle(as: Description): string {
  return as.startsWith('a') ? `an ${as}` : `a ${as}`;
}

/** The subjects and objects of the known properties have names. A list has no name. */
function requireNames(statements: Statements): void {
  const read = new Set<string>([
    ...Object.keys(PROPERTIES),
    INHERES_IN,
    IS_ABOUT,
    HAS_PARTICIPANT,
    REALIZED_IN,
  ]);
  for (const { subject, property } of statements.nameless) {
    if (!read.has(property)) continue;
    if (subject !== undefined)
      throw badValue(
        statements,
        subject,
        `${property} takes named terms; write several with commas: :A, :B`,
      );
    throw new OntologyError(
      'bad_value',
      `A blank node has ${property}. Write :Name instead of [].`,
      {
        evidence: { term: property, line: statements.lineOf(property) },
      },
    );
  }
}

/** Every term of our own vocabulary must be one that it has, wherever it stands. */
function requireVocabulary({ subjects, lineOf }: Statements): void {
  const known = new Set<string>([...MARKS, ...Object.keys(PROPERTIES)]);
  const require = (term: string): void => {
    // A word of ours as one of the domain's own is a slip, too: nothing would read it.
    const isOurs = term.startsWith('a:') || known.has(`a${term}`);
    if (!isOurs || known.has(term)) return;
    const line = lineOf(term);
    const message = `Line ${line} has ${term}, which is not a term of <${NAMESPACES.a}>.${didYouMean(term, known)}`;
    throw new OntologyError('unknown_term', message, { evidence: { term, line } });
  };
  for (const [subject, properties] of subjects) {
    if (subject.startsWith('a:')) require(subject);
    for (const [property, values] of properties) {
      require(property);
      for (const value of values)
        if ('term' in value && value.term.startsWith('a:')) require(value.term);
    }
  }
}

function headerOf(statements: Statements): string {
  const headers = [...statements.subjects.keys()].filter(
    (term) =>
      typesOf(statements, term).includes('owl:Ontology') && !isMergedHeader(statements, term),
  );
  const [header] = headers;
  if (header === undefined)
    throw new OntologyError(
      'no_ontology',
      'The text has no ontology header. Start with <urn:assize:domain:NAME> a owl:Ontology ; a:domain "NAME" .',
    );
  if (headers.length > 1)
    throw new OntologyError(
      'no_ontology',
      `The text has ${headers.length} ontologies: ${headers.join(', ')}. Keep one.`,
    );
  const domain = new SubjectStatements(statements, header).text('a:domain');
  if (domain === '')
    throw new OntologyError('no_ontology', `${header} has no domain. Add a:domain "NAME".`);
  if (!/^[a-z][a-z0-9_-]*$/.test(domain))
    throw new OntologyError(
      'no_ontology',
      `a:domain ${JSON.stringify(domain)} is not a domain name. Use lower case letters, digits, - and _, starting with a letter.`,
    );
  return header;
}

/** The header of an upper ontology that was merged in, such as `obo:bfo.owl`. */
function isMergedHeader(statements: Statements, term: string): boolean {
  return term.startsWith('obo:') && typesOf(statements, term).includes('owl:Ontology');
}

/** A property that has only values of a class has some, and all are of the class. */
function requireOnly(statements: Statements): void {
  for (const { subject, property, term } of statements.only) {
    const values = termsOf(statements, subject, property);
    if (values.length === 0)
      throw badValue(
        statements,
        subject,
        `owl:allValuesFrom on ${property} says that nothing else is meant, and nothing that is; add owl:someValuesFrom ${term}`,
      );
    const other = values.find((value) => !above(statements, value).has(term));
    if (other !== undefined)
      throw badValue(
        statements,
        subject,
        `${property} has ${other}, which is not below ${term} as owl:allValuesFrom requires; remove one of the two`,
      );
  }
}

/** A text that was merged with BFO has the hierarchy of BFO. */
function requireUpperClasses(statements: Statements): void {
  for (const term of Object.keys(UPPER))
    for (const parent of termsOf(statements, term, 'rdfs:subClassOf')) {
      if (parent === 'owl:Thing' || upperChain(term).includes(parent)) continue;
      const known = UPPER[parent] === undefined ? 'which is not a class of BFO' : `unlike BFO 2.0`;
      throw badValue(
        statements,
        term,
        `rdfs:subClassOf puts ${UPPER[term]?.name} below ${parent}, ${known}; remove the statement`,
      );
    }
}

function termsOf(statements: Statements, subject: string, property: string): string[] {
  return (statements.subjects.get(subject)?.get(property) ?? []).flatMap((v) =>
    'term' in v ? [v.term] : [],
  );
}

/** A class and all classes above it. */
function above(statements: Statements, term: string): ReadonlySet<string> {
  const seen = new Set([term]);
  for (const one of seen)
    for (const parent of [...termsOf(statements, one, 'rdfs:subClassOf'), ...upperChain(one)])
      seen.add(parent);
  return seen;
}

/**
 * Declarations of properties are not classes. Every other described term is a class, even if it
 * does not declare so.
 */
function isClass(statements: Statements, term: string): boolean {
  return !typesOf(statements, term).some((type) => /^(owl|rdf):\w*Property$/.test(type));
}

function typesOf(statements: Statements, term: string): string[] {
  const values = statements.subjects.get(term)?.get('rdf:type') ?? [];
  return values.flatMap((value) => ('term' in value ? [value.term] : []));
}

/** Whether a class is a kind of independent continuant, over as many steps as the text takes. */
function continuantsOf(statements: Statements): (term: string) => boolean {
  const parents = (term: string): string[] => termsOf(statements, term, 'rdfs:subClassOf');
  return (term) => {
    const seen = new Set([term]);
    for (const one of seen) {
      for (const parent of parents(one)) seen.add(parent);
      const { category, under } = UPPER[one] ?? {};
      if (category === 'independent continuant') return true;
      if (under !== undefined) seen.add(under);
    }
    return false;
  };
}
