import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Parser, type Quad, Store } from 'n3';
import { domainFolder } from '../../../tests/support/process/domain-folders.ts';

const OWN = 'urn:assize:ontology#';
const RDFS = 'http://www.w3.org/2000/01/rdf-schema#';
const SKOS = 'http://www.w3.org/2004/02/skos/core#';

/** The contents of a domain's `ontology.ttl`, by the vocabulary of the domains' ontologies. */
export class OntologyTerms {
  readonly #store: Store;
  readonly #own: string;

  constructor(domain: string) {
    const file = join(domainFolder(domain), 'ontology.ttl');
    this.#own = `urn:assize:domain:${domain}#`;
    this.#store = new Store(new Parser().parse(readFileSync(file, 'utf8')));
  }

  /** Terms that have this property of the vocabulary, with its values. */
  all(property: string): Map<string, string[]> {
    const found = new Map<string, string[]>();
    for (const { subject, object } of this.#store.getQuads(
      null,
      OWN + property,
      null,
      null,
    ) as Quad[])
      found.set(subject.value, [...(found.get(subject.value) ?? []), object.value]);
    return found;
  }

  of(term: string, property: string): string[] {
    return this.objects(term, OWN + property);
  }

  /** The same for a property of another vocabulary. */
  objects(term: string, property: string): string[] {
    return this.#store.getObjects(term, property, null).map(({ value }) => value);
  }

  /** The paths of the components that a term names by a property. */
  paths(term: string, property: string): string[] {
    return this.of(term, property)
      .flatMap((component) => this.of(component, 'path'))
      .sort();
  }

  /** Terms of the domain that are named but not described, or lack a label or a definition. */
  undescribed(): string[] {
    const named = (this.#store.getQuads(null, null, null, null) as Quad[]).flatMap(
      ({ subject, object }) => [subject.value, object.value],
    );
    return [...new Set(named)]
      .filter((term) => term.startsWith(this.#own))
      .filter((term) =>
        [`${RDFS}subClassOf`, `${RDFS}label`, `${SKOS}definition`].some(
          (property) => this.#store.countQuads(term, property, null, null) === 0,
        ),
      );
  }
}
