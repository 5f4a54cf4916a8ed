import type { Quad, Term } from 'n3';
import {
  HAS_PARTICIPANT,
  INHERES_IN,
  IS_ABOUT,
  NAMESPACES,
  PROPERTIES,
  REALIZED_IN,
  UPPER,
} from './vocabulary.ts';

/** The sense of OWL's class expressions about named classes, as statements. */
export interface Expressions {
  /** Statements that the expressions amount to, in order. */
  readonly said: readonly Said[];
  /** `owl:allValuesFrom`: the property has no value outside of the class. */
  readonly only: readonly Said[];
  /** Parts that are read as less than they say. */
  readonly unread: readonly { readonly subject: string; readonly says: string }[];
}

export interface Said {
  readonly subject: string;
  readonly property: string;
  readonly value: Term;
}

const owl = (name: string): string => NAMESPACES.owl + name;
const rdf = (name: string): string => NAMESPACES.rdf + name;
const SUBCLASS_OF = `${NAMESPACES.rdfs}subClassOf`;
const EQUIVALENT = owl('equivalentClass');

/** The properties with terms as values that have a reader. */
const RELATIONS: ReadonlySet<string> = new Set([
  ...[INHERES_IN, IS_ABOUT, HAS_PARTICIPANT, REALIZED_IN],
  ...Object.entries(PROPERTIES).flatMap(([name, sort]) => (sort === 'term' ? [name] : [])),
]);
/** Set operations and enumerations: a class of the vocabulary is below all of its superclasses. */
const REFUSED = ['unionOf', 'complementOf', 'oneOf', 'datatypeComplementOf'].map(owl);
/** Axioms about own classes that nothing here reads. Those of BFO are known. */
const UNUSED: ReadonlySet<string> = new Set(['disjointWith', 'disjointUnionOf', 'hasKey'].map(owl));
const COUNTED = ['minQualifiedCardinality', 'qualifiedCardinality'].map(owl);
const BOUNDS = ['maxQualifiedCardinality', 'maxCardinality', 'minCardinality', 'cardinality'].map(
  owl,
);

/**
 * Reads restrictions and intersections. A class that is below a restriction with `someValuesFrom`,
 * `hasValue`, or a qualified cardinality from 1 has the relation to the named class.
 *
 * @throws the error of `bad`
 */
export function readExpressions(
  quads: readonly Quad[],
  short: (iri: string) => string,
  bad: Bad,
): Expressions {
  return new Reading(quads, short, bad).run();
}

/** The error of an expression that no statement of the vocabulary can stand for. */
type Bad = (subject: string, problem: string) => Error;

class Reading {
  readonly #about: ReadonlyMap<string, readonly Quad[]>;
  readonly #quads: readonly Quad[];
  readonly #short: (iri: string) => string;
  readonly #said: Said[] = [];
  readonly #only: Said[] = [];
  readonly #bad: Bad;
  readonly #unread: { subject: string; says: string }[] = [];

  constructor(quads: readonly Quad[], short: (iri: string) => string, bad: Bad) {
    this.#bad = bad;
    this.#quads = quads;
    this.#short = short;
    this.#about = Map.groupBy(quads, ({ subject }) => subject.value);
  }

  run(): Expressions {
    for (const { subject, predicate, object } of this.#quads) {
      const isAbove = predicate.value === SUBCLASS_OF || predicate.value === EQUIVALENT;
      if (subject.termType !== 'NamedNode') {
        if (isAbove && object.termType === 'NamedNode')
          this.#unread.push({
            subject: this.#short(object.value),
            says: 'a class expression below it is not used',
          });
        continue;
      }
      // BFO's own axioms, which a merge brings along: the table of its classes has their sense.
      if (UPPER[this.#short(subject.value)] !== undefined) continue;
      if (UNUSED.has(predicate.value))
        this.#unread.push({
          subject: this.#short(subject.value),
          says: `${this.#short(predicate.value)} is not used`,
        });
      if (!isAbove || (predicate.value === SUBCLASS_OF && object.termType === 'NamedNode'))
        continue;
      this.#below(this.#short(subject.value), object, new Set());
    }
    return { said: this.#said, only: this.#only, unread: this.#unread };
  }

  /** The subject is below the class or the expression. */
  #below(subject: string, above: Term, path: ReadonlySet<string>): void {
    if (above.termType === 'NamedNode') {
      this.#said.push({ subject, property: SUBCLASS_OF, value: above });
      return;
    }
    if (path.has(above.value))
      throw this.#bad(subject, 'a class expression contains itself; write it once');
    const deeper = new Set([...path, above.value]);
    const members = this.#one(above, owl('intersectionOf'));
    if (members !== undefined) {
      for (const member of this.#list(members)) this.#below(subject, member, deeper);
      return;
    }
    const refused = REFUSED.find((name) => this.#one(above, name) !== undefined);
    if (refused !== undefined)
      throw this.#bad(
        subject,
        `${this.#short(refused)} cannot be used; name superclasses with rdfs:subClassOf`,
      );
    if (this.#one(above, owl('onProperty')) !== undefined) {
      this.#restricted(subject, above);
      return;
    }
    throw this.#bad(
      subject,
      'rdfs:subClassOf has an expression without a name, which is not a restriction; name a class, or use owl:Restriction with owl:onProperty',
    );
  }

  #restricted(subject: string, restriction: Term): void {
    const on = this.#one(restriction, owl('onProperty')) as Term;
    if (on.termType !== 'NamedNode')
      throw this.#bad(
        subject,
        'owl:onProperty has no named property; name one, such as obo:RO_0000052',
      );
    const property = this.#short(on.value);
    if (!RELATIONS.has(property)) {
      if (property.startsWith('a:'))
        throw this.#bad(
          subject,
          `${property} cannot be restricted; state its value with ${property} directly`,
        );
      this.#unread.push({ subject, says: `a restriction on ${property} is not used` });
      return;
    }
    const some =
      this.#one(restriction, owl('someValuesFrom')) ?? this.#one(restriction, owl('hasValue'));
    if (some !== undefined) {
      this.#relate(subject, on, some);
      return;
    }
    const only = this.#one(restriction, owl('allValuesFrom'));
    if (only !== undefined) {
      if (only.termType !== 'NamedNode') throw this.#bad(subject, fillerText(property));
      this.#only.push({ subject, property: on.value, value: only });
      return;
    }
    this.#counted(subject, on, restriction);
  }

  /** From one of a named class: at least one exists, which is all that a class can state here. */
  #counted(subject: string, on: Term, restriction: Term): void {
    const property = this.#short(on.value);
    const name = COUNTED.find((one) => this.#one(restriction, one) !== undefined);
    const bound = BOUNDS.find((one) => this.#one(restriction, one) !== undefined);
    if (name === undefined)
      throw this.#bad(
        subject,
        bound === undefined
          ? `a restriction on ${property} has no owl:someValuesFrom; add it`
          : `${this.#short(bound)} on ${property} names no class that must exist; add owl:someValuesFrom, or write the limit as a rule`,
      );
    const count = this.#one(restriction, name)?.value ?? '';
    const filler = this.#one(restriction, owl('onClass'));
    if (!/^[1-9]\d*$/.test(count) || filler === undefined)
      throw this.#bad(
        subject,
        `${this.#short(name)} ${count} on ${property} cannot be used; write a number from 1 with owl:onClass`,
      );
    this.#relate(subject, on, filler);
    if (name === owl('minQualifiedCardinality') && count === '1') return;
    this.#unread.push({
      subject,
      says: `${this.#short(name)} ${count} on ${property} is read as owl:someValuesFrom; write the number as a rule`,
    });
  }

  #relate(subject: string, on: Term, value: Term): void {
    if (value.termType !== 'NamedNode') throw this.#bad(subject, fillerText(this.#short(on.value)));
    this.#said.push({ subject, property: on.value, value });
  }

  #one(of: Term, property: string): Term | undefined {
    return this.#about.get(of.value)?.find(({ predicate }) => predicate.value === property)?.object;
  }

  #list(head: Term): Term[] {
    const items: Term[] = [];
    const seen = new Set<string>();
    for (
      let at: Term | undefined = head;
      at !== undefined && at.value !== rdf('nil') && !seen.has(at.value);
    ) {
      seen.add(at.value);
      const item = this.#one(at, rdf('first'));
      if (item !== undefined) items.push(item);
      at = this.#one(at, rdf('rest'));
    }
    return items;
  }
}

function fillerText(property: string): string {
  return `a restriction on ${property} has a class without a name; name the class`;
}
