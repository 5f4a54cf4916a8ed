import { arg, checkArgument } from 'assize/internal/base';

/**
 * A class of the ontology. Terms are written as in Turtle: `:Claims` for those of the domain,
 * `obo:BFO_0000019` and `a:WorkerRole` for known ones. A value that the file omits is an empty
 * string or list.
 */
export interface Entity {
  readonly term: string;
  /** Line of the file that begins to describe it, from 1; 0 where that is not known. */
  readonly line: number;
  readonly label: string;
  readonly definition: string;
  readonly source: string;
  /** Its superclasses. */
  readonly parents: readonly string[];
  /** Its bearers (RO_0000052). */
  readonly inheresIn: readonly string[];
  /** Its subjects (IAO_0000136). */
  readonly about: readonly string[];
  /** As what the file describes it; more than one is an error that `check` finds. */
  readonly described: readonly Description[];
}

export type Description = 'component' | 'process' | 'worker role' | 'rule' | 'audit requirement';

export interface Continuant extends Entity {
  readonly primary: boolean;
}

/**
 * A field of the domain's state (seed 000, Definition A.1), including a role of the continuant
 * (Remark A.4).
 */
export interface Component extends Entity {
  /** The patterns with which processes name it in their reads and writes. */
  readonly paths: readonly string[];
  /** A time that governs: a deadline, a window. */
  readonly timed: boolean;
}

export interface ProcessClass extends Entity {
  readonly process: string;
  readonly participants: readonly string[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly after: readonly string[];
  readonly preconditions: readonly string[];
  readonly apartFrom: readonly string[];
  readonly togetherWith: readonly string[];
}

/** A job that Procedure 1 adds, named by processes that it is realized in (BFO_0000054). */
export interface WorkerRole extends Entity {
  readonly role: string;
  readonly realizedIn: readonly string[];
}

export interface PolicyRule extends Entity {
  readonly rule: string;
  /** Its place among the domain's invariants. */
  readonly order: number;
  readonly refersTo: readonly string[];
  /**
   * The parameters that have one value in each of its checks: a rule for each `patient` judges one
   * patient at a time. Of any other parameter the rule joins all values.
   */
  readonly forEach: readonly string[];
  readonly onFailure: string;
  /** The counselor of an escalation. */
  readonly counselor: string;
  /** Of a precondition: the processes that must have happened. */
  readonly after: readonly string[];
  /** Of a precondition: the times that it waits for. */
  readonly notBefore: readonly string[];
}

/**
 * The contents of an `ontology.ttl`. Each list has the order of the file. Rules have the order that
 * they declare.
 */
export interface Ontology {
  readonly iri: string;
  /** The domain's name. */
  readonly domain: string;
  readonly title: string;
  readonly description: string;
  readonly source: string;
  readonly continuants: readonly Continuant[];
  readonly components: readonly Component[];
  readonly processes: readonly ProcessClass[];
  readonly roles: readonly WorkerRole[];
  readonly rules: readonly PolicyRule[];
  readonly audits: readonly Entity[];
  /**
   * Classes of no other kind: reasons (directives about processes), and superclasses of other
   * classes.
   */
  readonly others: readonly Entity[];
  /** Restrictions of OWL, or parts of them, that nothing here reads. */
  readonly unread: readonly {
    readonly term: string;
    readonly line: number;
    readonly says: string;
  }[];
}

const texts = arg.list(arg.text);
const ENTITY = {
  term: arg.text,
  line: arg.whole,
  label: arg.text,
  definition: arg.text,
  source: arg.text,
  parents: texts,
  inheresIn: texts,
  about: texts,
  described: texts,
};
const yes = arg.of('true or false', (value) => typeof value === 'boolean');

const ONTOLOGY = arg.members({
  iri: arg.text,
  domain: arg.text,
  title: arg.text,
  description: arg.text,
  source: arg.text,
  continuants: arg.list(arg.members({ ...ENTITY, primary: yes })),
  components: arg.list(arg.members({ ...ENTITY, paths: texts, timed: yes })),
  processes: arg.list(
    arg.members({
      ...ENTITY,
      process: arg.text,
      participants: texts,
      reads: texts,
      writes: texts,
      after: texts,
      preconditions: texts,
      apartFrom: texts,
      togetherWith: texts,
    }),
  ),
  roles: arg.list(arg.members({ ...ENTITY, role: arg.text, realizedIn: texts })),
  rules: arg.list(
    arg.members({
      ...ENTITY,
      rule: arg.text,
      order: arg.number,
      refersTo: texts,
      forEach: texts,
      onFailure: arg.text,
      counselor: arg.text,
      after: texts,
      notBefore: texts,
    }),
  ),
  audits: arg.list(arg.members(ENTITY)),
  others: arg.list(arg.members(ENTITY)),
  unread: arg.list(arg.members({ term: arg.text, line: arg.whole, says: arg.text })),
});

/** @throws ArgumentError `bad_argument` */
export function requireOntology(ontology: Ontology): void {
  checkArgument(ONTOLOGY, ontology, 'ontology');
}

/** Every class of any kind. */
export function entitiesOf(ontology: Ontology): Entity[] {
  const { continuants, components, processes, roles, rules, audits, others } = ontology;
  return [...continuants, ...components, ...processes, ...roles, ...rules, ...audits, ...others];
}
