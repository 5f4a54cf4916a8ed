import { arg, checkArgument } from 'assize/internal/base';
import {
  type CounselorPredicate,
  type Domain,
  defineDomain,
  type MemorySpec,
  type PredicateSpec,
} from 'assize/internal/kernel';
import { z } from 'zod';

/** The predicate of a declared name: the subject is the other name, and the object is the name. */
export const ALIAS = 'assize.alias';
/** The same for names of predicates. */
export const PREDICATE_ALIAS = 'assize.predicate_alias';

const one = (description: string): PredicateSpec =>
  Object.freeze({ cardinality: 'single-valued', strategy: 'lww-valid', description });
const many = (description: string): PredicateSpec =>
  Object.freeze({ cardinality: 'multi-valued', strategy: 'lww-valid', description });

/** The predicates of a chat memory, if the caller declares none of its own. */
export const CHAT_PREDICATES: MemorySpec['predicates'] = Object.freeze({
  name: one('the full name of a person or thing'),
  'lives in': one('the place where a person lives'),
  'works for': one('the employer of a person'),
  occupation: one('the work of a person'),
  'born on': one('the day of birth, as YYYY-MM-DD'),
  'partner is': one('the partner of a person'),
  diet: one('what a person eats or avoids as a rule'),
  language: many('a language that a person speaks'),
  'related to': many('a relative, a friend, a colleague or a pet, with the relation'),
  likes: many('something that a person likes'),
  dislikes: many('something that a person dislikes'),
  owns: many('a thing that a person has or uses'),
  'allergic to': many('an allergy'),
  plans: many('something that a person intends to do'),
  prefers: many('how a person wants to be served, answered or addressed'),
  note: many('any other lasting fact about the subject, as one short sentence'),
});

export interface ChatDomainOptions {
  /** Default: `chat`. */
  readonly name?: string;
  /** Default: `1`. Give another version after a change of the predicates. */
  readonly version?: string;
  /** The predicates of facts. Default: `CHAT_PREDICATES`. */
  readonly predicates?: MemorySpec['predicates'];
  /** The people that confirm aliases and settle contradictions. Default: any but `agent:` names. */
  readonly counselors?: Readonly<Record<string, CounselorPredicate>>;
}

const OPTIONS = arg.options<ChatDomainOptions>({
  name: arg.optional(arg.text),
  version: arg.optional(arg.text),
  predicates: arg.optional(arg.object),
  counselors: arg.optional(arg.object),
});

/**
 * A domain for `chatMemory`: predicates, names that mean one thing, and only the rules of
 * the memory. An alias that contradicts another one waits for a person.
 *
 * @throws KernelError `invalid_domain`; ArgumentError `bad_argument`
 */
export function chatDomain(options: ChatDomainOptions = {}): Domain {
  checkArgument(OPTIONS, options, 'options');
  const { name = 'chat', version = '1', predicates = CHAT_PREDICATES } = options;
  const alias = (description: string): PredicateSpec => ({
    cardinality: 'single-valued',
    strategy: 'await',
    description,
  });
  return defineDomain({
    name,
    version,
    state: z.object({}),
    initial: {},
    processes: {},
    roles: {},
    actions: {},
    invariants: [],
    counselors: options.counselors ?? { person: (principal) => !principal.startsWith('agent:') },
    memory: {
      predicates: {
        ...predicates,
        [ALIAS]: alias('the name that means the same as the subject'),
        [PREDICATE_ALIAS]: alias('the predicate that means the same as the subject'),
      },
    },
  }) as unknown as Domain;
}

/** The predicates of facts: those of the domain without those of names. */
export function factPredicates({ memory }: Pick<Domain, 'memory'>): MemorySpec['predicates'] {
  const { [ALIAS]: _names, [PREDICATE_ALIAS]: _predicates, ...others } = memory?.predicates ?? {};
  return others;
}
