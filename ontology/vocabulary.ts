/**
 * The words of a domain's `ontology.ttl`: our own words, and the classes and relations of BFO, IAO
 * and RO that they build on.
 */

export const NAMESPACES = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  owl: 'http://www.w3.org/2002/07/owl#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  dct: 'http://purl.org/dc/terms/',
  obo: 'http://purl.obolibrary.org/obo/',
  a: 'urn:assize:ontology#',
} as const;

/** Categories that no thing has two of; every class of an ontology is of exactly one. */
export type Category =
  | 'independent continuant'
  | 'quality'
  | 'role'
  | 'information content entity'
  | 'process'
  | 'temporal region';

/** Classes of the upper ontologies, each with its superclass, or with its category. */
export const UPPER: Readonly<Record<string, { readonly name: string; readonly is: string | Category }>> = {
  'obo:BFO_0000004': { name: 'independent continuant', is: 'independent continuant' },
  'obo:BFO_0000040': { name: 'material entity', is: 'obo:BFO_0000004' },
  'obo:BFO_0000027': { name: 'object aggregate', is: 'obo:BFO_0000040' },
  'obo:BFO_0000030': { name: 'object', is: 'obo:BFO_0000040' },
  'obo:BFO_0000029': { name: 'site', is: 'obo:BFO_0000004' },
  'obo:BFO_0000015': { name: 'process', is: 'process' },
  'obo:BFO_0000019': { name: 'quality', is: 'quality' },
  'obo:BFO_0000145': { name: 'relational quality', is: 'obo:BFO_0000019' },
  'obo:BFO_0000023': { name: 'role', is: 'role' },
  'obo:BFO_0000031': { name: 'generically dependent continuant', is: 'information content entity' },
  'obo:IAO_0000030': { name: 'information content entity', is: 'obo:BFO_0000031' },
  'obo:IAO_0000033': { name: 'directive information entity', is: 'obo:IAO_0000030' },
  'obo:BFO_0000008': { name: 'temporal region', is: 'temporal region' },
  'obo:BFO_0000038': { name: 'one-dimensional temporal region', is: 'obo:BFO_0000008' },
};

export const DIRECTIVE = 'obo:IAO_0000033';

export const INHERES_IN = 'obo:RO_0000052';
export const IS_ABOUT = 'obo:IAO_0000136';
export const HAS_PARTICIPANT = 'obo:RO_0000057';
export const REALIZED_IN = 'obo:BFO_0000054';

/** Classes of `a:`, which mark what something is to the domain. */
export const MARKS = ['a:PrimaryContinuant', 'a:TimedComponent', 'a:WorkerRole', 'a:AuditRequirement'] as const;

/** Properties of `a:` with the kind of their values. */
export const PROPERTIES = {
  'a:domain': 'text',
  'a:path': 'text',
  'a:process': 'text',
  'a:role': 'text',
  'a:rule': 'text',
  'a:onFailure': 'text',
  'a:counselor': 'text',
  'a:order': 'whole number',
  'a:forEach': 'text',
  'a:reads': 'term',
  'a:writes': 'term',
  'a:refersTo': 'term',
  'a:precondition': 'term',
  'a:after': 'term',
  'a:notBefore': 'term',
  'a:apartFrom': 'term',
  'a:togetherWith': 'term',
} as const;

/** Properties that something has at most one value of. */
export const SINGLE: ReadonlySet<string> = new Set([
  'a:domain',
  'a:process',
  'a:role',
  'a:rule',
  'a:onFailure',
  'a:counselor',
  'a:order',
  'rdfs:label',
  'skos:definition',
  'dct:title',
  'dct:description',
]);
