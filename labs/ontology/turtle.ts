import { Lexer, Parser, type Quad, type Term, type Token } from 'n3';
import { readExpressions } from './class-expressions.ts';
import { OntologyError } from './errors.ts';
import { NAMESPACES } from './vocabulary.ts';

/** An object of a statement: a class or property by its term, or a text. */
export type Value = { readonly term: string } | { readonly text: string };

/** The statements of a text about each subject, property by property, in order. */
export interface Statements {
  /** By the subject's term, then by the property's. Statements with blank nodes are omitted. */
  readonly subjects: ReadonlyMap<string, ReadonlyMap<string, readonly Value[]>>;
  /**
   * The omitted statements. They have a subject if only the object has no name, as a list has none.
   */
  readonly nameless: readonly { readonly subject: string | undefined; readonly property: string }[];
  /** By `owl:allValuesFrom`: the property has only values of that class. */
  readonly only: readonly {
    readonly subject: string;
    readonly property: string;
    readonly term: string;
  }[];
  /** Class expressions, or parts of them, that are not used. */
  readonly unread: readonly { readonly subject: string; readonly says: string }[];
  /** The first line that is about a term, or else that names it. */
  lineOf(term: string): number;
}

/** @throws OntologyError `bad_turtle`; `bad_value` for a class expression that cannot be used */
export function readTurtle(text: string): Statements {
  const quads = parsed(text);
  const own = ownNamespace(quads);
  const short = (iri: string): string => shortened(iri, own);
  const subjects = new Map<string, Map<string, Value[]>>();
  const nameless: { subject: string | undefined; property: string }[] = [];
  const add = (subject: string, property: string, object: Term): void => {
    const properties = subjects.get(subject) ?? new Map<string, Value[]>();
    subjects.set(subject, properties);
    const values = properties.get(property) ?? [];
    properties.set(property, values);
    const value =
      object.termType === 'NamedNode' ? { term: short(object.value) } : { text: object.value };
    if (!values.some((known) => JSON.stringify(known) === JSON.stringify(value)))
      values.push(value);
  };
  for (const { subject, predicate, object } of quads) {
    const isNamed = subject.termType === 'NamedNode';
    if (!isNamed || object.termType === 'BlankNode') {
      nameless.push({
        subject: isNamed ? short(subject.value) : undefined,
        property: short(predicate.value),
      });
      continue;
    }
    add(short(subject.value), short(predicate.value), object);
  }
  const lines = linesOf(text, short);
  const lineOf = (term: string): number => lines.get(term) ?? 0;
  const bad = (subject: string, problem: string): OntologyError =>
    badValue({ lineOf }, subject, problem);
  const { said, only, unread } = readExpressions(quads, short, bad);
  for (const { subject, property, value } of said) add(subject, short(property), value);
  return {
    subjects,
    nameless,
    only: only.map(({ subject, property, value }) => ({
      subject,
      property: short(property),
      term: short(value.value),
    })),
    unread,
    lineOf,
  };
}

function parsed(text: string): Quad[] {
  try {
    return new Parser({ format: 'text/turtle' }).parse(text);
  } catch (cause) {
    const { message, context } = cause as Error & { context?: { line?: number } };
    const line = context?.line ?? 0;
    const what = message.replace(/ on line \d+\.?$/, '').replace(/\.$/, '');
    const place = line > 0 ? ` on line ${line}` : '';
    throw new OntologyError(
      'bad_turtle',
      `The text is not Turtle${place}: ${what}. Fix the line and try again.`,
      {
        cause,
        evidence: { line },
      },
    );
  }
}

/** Terms of the domain are below the ontology's own name. */
function ownNamespace(quads: readonly Quad[]): string {
  const header = quads.find(
    ({ subject, predicate, object }) =>
      predicate.value === `${NAMESPACES.rdf}type` &&
      object.value === `${NAMESPACES.owl}Ontology` &&
      // An upper ontology that was merged in brings its own header.
      !subject.value.startsWith(NAMESPACES.obo),
  );
  return `${header?.subject.value ?? 'urn:assize:domain:'}#`;
}

const KNOWN = Object.entries(NAMESPACES);

function shortened(iri: string, own: string): string {
  if (iri.startsWith(own)) return `:${iri.slice(own.length)}`;
  const known = KNOWN.find(([, namespace]) => iri.startsWith(namespace));
  return known === undefined ? `<${iri}>` : `${known[0]}:${iri.slice(known[1].length)}`;
}

/** The parser does not say where its statements stand, so the words are read once more. */
function linesOf(text: string, short: (iri: string) => string): Map<string, number> {
  const prefixes = new Map<string, string>();
  const named = new Map<string, number>();
  const described = new Map<string, number>();
  let before: readonly Token[] = [];
  for (const token of new Lexer().tokenize(text)) {
    const iri = token.type === 'IRI' ? token.value : prefixedIri(token, prefixes);
    const [last, last2] = before;
    if (
      iri !== undefined &&
      last?.type === 'prefix' &&
      /^(@prefix|PREFIX)$/.test(last2?.type ?? '')
    )
      prefixes.set(last.value ?? '', iri);
    else if (iri !== undefined) {
      const term = short(iri);
      if (!named.has(term)) named.set(term, token.line);
      if ((last === undefined || last.type === '.') && !described.has(term))
        described.set(term, token.line);
    }
    before = [token, ...(last === undefined ? [] : [last])];
  }
  return new Map([...named, ...described]);
}

function prefixedIri(
  { type, prefix, value }: Token,
  prefixes: ReadonlyMap<string, string>,
): string | undefined {
  const namespace = type === 'prefixed' ? prefixes.get(prefix ?? '') : undefined;
  return namespace === undefined ? undefined : namespace + (value ?? '');
}

/** The error of a value that a term has, with the line that describes the term. */
export function badValue(
  { lineOf }: Pick<Statements, 'lineOf'>,
  term: string,
  problem: string,
): OntologyError {
  const line = lineOf(term);
  return new OntologyError('bad_value', `Line ${line}, ${term}: ${problem}.`, {
    evidence: { term, line },
  });
}
