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
  | 'disposition'
  | 'role'
  | 'information content entity'
  | 'process'
  | 'temporal region'
  | 'spatiotemporal region'
  | 'process boundary';

/**
 * A class of the upper ontologies: its name, its superclass, and its category where it is the
 * highest class of one. Above a category are classes of several, such as *continuant*.
 */
export interface UpperClass {
  readonly name: string;
  readonly under?: string;
  readonly category?: Category;
}

/** The classes of BFO 2.0, with two of IAO and two of BFO 2020. */
export const UPPER: Readonly<Record<string, UpperClass>> = {
  'obo:BFO_0000001': { name: 'entity' },
  'obo:BFO_0000002': { name: 'continuant', under: 'obo:BFO_0000001' },
  'obo:BFO_0000003': { name: 'occurrent', under: 'obo:BFO_0000001' },
  'obo:BFO_0000004': {
    name: 'independent continuant',
    under: 'obo:BFO_0000002',
    category: 'independent continuant',
  },
  'obo:BFO_0000040': { name: 'material entity', under: 'obo:BFO_0000004' },
  'obo:BFO_0000024': { name: 'fiat object part', under: 'obo:BFO_0000040' },
  'obo:BFO_0000027': { name: 'object aggregate', under: 'obo:BFO_0000040' },
  'obo:BFO_0000030': { name: 'object', under: 'obo:BFO_0000040' },
  'obo:BFO_0000141': { name: 'immaterial entity', under: 'obo:BFO_0000004' },
  'obo:BFO_0000029': { name: 'site', under: 'obo:BFO_0000141' },
  'obo:BFO_0000140': { name: 'continuant fiat boundary', under: 'obo:BFO_0000141' },
  'obo:BFO_0000147': {
    name: 'zero-dimensional continuant fiat boundary',
    under: 'obo:BFO_0000140',
  },
  'obo:BFO_0000142': { name: 'one-dimensional continuant fiat boundary', under: 'obo:BFO_0000140' },
  'obo:BFO_0000146': { name: 'two-dimensional continuant fiat boundary', under: 'obo:BFO_0000140' },
  'obo:BFO_0000006': { name: 'spatial region', under: 'obo:BFO_0000141' },
  'obo:BFO_0000018': { name: 'zero-dimensional spatial region', under: 'obo:BFO_0000006' },
  'obo:BFO_0000026': { name: 'one-dimensional spatial region', under: 'obo:BFO_0000006' },
  'obo:BFO_0000009': { name: 'two-dimensional spatial region', under: 'obo:BFO_0000006' },
  'obo:BFO_0000028': { name: 'three-dimensional spatial region', under: 'obo:BFO_0000006' },
  'obo:BFO_0000020': { name: 'specifically dependent continuant', under: 'obo:BFO_0000002' },
  'obo:BFO_0000019': { name: 'quality', under: 'obo:BFO_0000020', category: 'quality' },
  'obo:BFO_0000145': { name: 'relational quality', under: 'obo:BFO_0000019' },
  'obo:BFO_0000017': { name: 'realizable entity', under: 'obo:BFO_0000020' },
  'obo:BFO_0000016': { name: 'disposition', under: 'obo:BFO_0000017', category: 'disposition' },
  'obo:BFO_0000034': { name: 'function', under: 'obo:BFO_0000016' },
  'obo:BFO_0000023': { name: 'role', under: 'obo:BFO_0000017', category: 'role' },
  'obo:BFO_0000031': {
    name: 'generically dependent continuant',
    under: 'obo:BFO_0000002',
    category: 'information content entity',
  },
  'obo:IAO_0000030': { name: 'information content entity', under: 'obo:BFO_0000031' },
  'obo:IAO_0000033': { name: 'directive information entity', under: 'obo:IAO_0000030' },
  'obo:BFO_0000015': { name: 'process', under: 'obo:BFO_0000003', category: 'process' },
  'obo:BFO_0000144': { name: 'process profile', under: 'obo:BFO_0000015' },
  'obo:BFO_0000182': { name: 'history', under: 'obo:BFO_0000015' },
  'obo:BFO_0000035': {
    name: 'process boundary',
    under: 'obo:BFO_0000003',
    category: 'process boundary',
  },
  'obo:BFO_0000008': {
    name: 'temporal region',
    under: 'obo:BFO_0000003',
    category: 'temporal region',
  },
  'obo:BFO_0000148': { name: 'zero-dimensional temporal region', under: 'obo:BFO_0000008' },
  'obo:BFO_0000203': { name: 'temporal instant', under: 'obo:BFO_0000148' },
  'obo:BFO_0000038': { name: 'one-dimensional temporal region', under: 'obo:BFO_0000008' },
  'obo:BFO_0000202': { name: 'temporal interval', under: 'obo:BFO_0000038' },
  'obo:BFO_0000011': {
    name: 'spatiotemporal region',
    under: 'obo:BFO_0000003',
    category: 'spatiotemporal region',
  },
};

/** A class of the upper ontologies, and all classes above it. */
export function upperChain(term: string): string[] {
  const chain: string[] = [];
  for (let one: string | undefined = term; one !== undefined; one = UPPER[one]?.under)
    chain.push(one);
  return chain;
}

export const DIRECTIVE = 'obo:IAO_0000033';

/** The definition of a class in BFO, IAO and the ontologies of OBO. */
export const IAO_DEFINITION = 'obo:IAO_0000115';
export const INHERES_IN = 'obo:RO_0000052';
export const IS_ABOUT = 'obo:IAO_0000136';
export const HAS_PARTICIPANT = 'obo:RO_0000057';
export const REALIZED_IN = 'obo:BFO_0000054';

/** Classes of `a:`. They mark what something is to the domain. */
export const MARKS = [
  'a:PrimaryContinuant',
  'a:TimedComponent',
  'a:WorkerRole',
  'a:AuditRequirement',
] as const;

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
