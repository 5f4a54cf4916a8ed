import { arg, checkArgument, isInstance, type Json } from 'assize/internal/base';
import { contentHash, instantOf, type Time } from 'assize/internal/canon';
import type { MemorySpec, StatementMetadata } from 'assize/internal/kernel';
import type { Hash } from 'assize/internal/ledger';
import type { Clock, Oracle } from 'assize/internal/oracle';
import type { Memory, ObservationInput, Ruling } from 'assize/internal/runtime';
import {
  type Extraction,
  ExtractionError,
  type ExtractionTerms,
  extractFacts,
  extractWith,
  type LeftOutFact,
  type Message,
} from '#agents';
import { ChatMemoryError } from './errors.ts';
import { type ChatMessage, keyOf, type ReadMessages, readMessages } from './messages.ts';
import { normalised } from './normalise.ts';
import { type Outcome, outcomesOf, type StatedFact } from './outcome.ts';
import type { SpaceAliases } from './space-aliases.ts';

/** A fact that the caller read in the messages itself, in the form of a model's answer. */
export interface GivenFact {
  /** The number of its message among those that are read, from 1. */
  readonly message: number;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** Default: 1. */
  readonly confidence?: number;
  readonly from?: string | null;
  readonly to?: string | null;
}

export interface RememberOptions {
  /** The space of the facts. Default: `user:USER` with a user, else that of the memory. */
  readonly space?: string;
  /** The author of the messages of the role `user`. */
  readonly user?: string;
  /** Noted on each fact of the call. `recall` filters by it. */
  readonly metadata?: StatementMetadata;
  /** The time of messages without a time. Default: that of the first call with this key. */
  readonly at?: Time;
  /**
   * The name of this call. A repetition with the same key asks no model and changes nothing.
   * Default: a hash of the messages.
   */
  readonly key?: string;
  /** The facts, if no model is to read the messages. */
  readonly facts?: readonly GivenFact[];
  /** The observations of recalls from which the facts were concluded; `repair` follows them. */
  readonly basedOn?: readonly ObservationInput[];
}

/** The outcome of a call. Each fact of its messages is in one of the lists. */
export interface Remembered {
  readonly added: readonly StatedFact[];
  /** Facts that replaced or ended others, with the objects that hold no more. */
  readonly changed: readonly (StatedFact & { readonly was: readonly string[] })[];
  /** Facts that the memory held already, under these or other names. */
  readonly duplicates: readonly StatedFact[];
  /** Facts that lost, with the objects that won. They stay on record. */
  readonly contradicted: readonly (StatedFact & { readonly by: readonly string[] })[];
  /**
   * Facts that an earlier call recorded from the same message, and that were withdrawn or retracted
   * since. They stay so: state such a fact in another message, with another text, time or id.
   */
  readonly withdrawn: readonly StatedFact[];
  /** Facts that were not recorded. A fact of a wrong form has no content here. */
  readonly skipped: readonly { readonly fact?: StatedFact; readonly why: string }[];
  /** Facts that wait for a person, by the pending proposal. */
  readonly questions: readonly Question[];
  /** The commits of the call. */
  readonly entries: readonly Hash[];
}

export interface Question {
  /** The id for `assize approve`, or for the API. */
  readonly pending: Hash;
  readonly channel: string;
  readonly detail: string;
  readonly facts: readonly StatedFact[];
}

/** The parts of a chat memory that `remember` uses. */
export interface RememberPorts {
  readonly memory: Memory;
  readonly space: string;
  readonly trajectory: string;
  readonly oracle: Oracle;
  readonly clock: Clock;
  readonly predicates: MemorySpec['predicates'];
  readonly aliases: SpaceAliases;
  readonly model: ExtractionTerms['model'] | undefined;
  readonly theta: ExtractionTerms['theta'] | undefined;
  readonly otherUsers: 'contradict' | 'replace';
}

/** The name of a chat memory in the oracle log. */
const AGENT = 'assize.chat';

const FACT = arg.members({
  message: arg.wholeFrom(1),
  subject: arg.text,
  predicate: arg.text,
  object: arg.text,
  confidence: arg.optional(arg.number),
  from: arg.any,
  to: arg.any,
});
const OPTIONS = arg.options<RememberOptions>({
  space: arg.optional(arg.text),
  user: arg.optional(arg.text),
  metadata: arg.optional(arg.object),
  at: arg.any,
  key: arg.optional(
    arg.of(
      'a text of 1 to 512 characters',
      (key) => typeof key === 'string' && /^.{1,512}$/su.test(key),
    ),
  ),
  facts: arg.optional(arg.list(FACT)),
  basedOn: arg.optional(arg.list(arg.object)),
});

export function checkRememberOptions(options: RememberOptions): void {
  checkArgument(OPTIONS, options, 'options');
}

/** @throws the errors of `ChatMemory.remember` */
export async function remember(
  given: readonly ChatMessage[],
  options: RememberOptions,
  ports: RememberPorts,
): Promise<Remembered> {
  const read = readMessages(given, { ...options, isShared: ports.otherUsers === 'replace' });
  const { stated, unread } = placedFacts(options.facts, given, read);
  if (read.messages.length === 0) return { ...NOTHING, skipped: unread };
  if (options.facts === undefined && ports.model === undefined)
    throw new ChatMemoryError(
      'bad_argument',
      'The memory has no model to read messages. Set `model`, or pass the facts as `facts`.',
    );
  const reference = await referenceOf(read, options, ports);
  const { claims, leftOut, observations } = await factsOf(
    read.messages,
    reference.at,
    stated,
    ports,
  );
  const facts = await normalised(claims, ports.aliases, ports.memory);
  const observed = [...observations, ...reference.observations, ...(options.basedOn ?? [])];
  const done = await recorded(facts, read.notes, observed, ports.memory);
  const invalid = leftOut.map(({ why }) => ({ why }));
  return { ...done, skipped: [...unread, ...invalid, ...done.skipped] };
}

/**
 * The given facts with the numbers of their messages among those that are read. A fact of another
 * message is skipped.
 */
function placedFacts(
  facts: RememberOptions['facts'],
  given: readonly ChatMessage[],
  { numbers }: ReadMessages,
): { readonly stated: RememberOptions['facts']; readonly unread: Remembered['skipped'] } {
  const isUnread = ({ message }: { readonly message: number }): boolean =>
    message <= given.length && !numbers.includes(message);
  const stated = facts
    ?.filter((fact) => !isUnread(fact))
    .map((fact) => ({ ...fact, message: numbers.indexOf(fact.message) + 1 || fact.message }));
  const unread = (facts ?? []).filter(isUnread).map(({ message }) => ({
    why: `message ${message} has the role ${given[message - 1]?.role}, and only messages of user and assistant are read`,
  }));
  return { stated, unread };
}

const NOTHING: Remembered = {
  added: [],
  changed: [],
  duplicates: [],
  contradicted: [],
  withdrawn: [],
  skipped: [],
  questions: [],
  entries: [],
};

/** The time of messages without one, and the observation of the answer that recorded it. */
interface Reference {
  readonly at: string;
  readonly observations: readonly ObservationInput[];
}

/**
 * The first call with the key records the time, so a repetition asks the model the same question.
 * The commit observes the answer, so an erasure of its facts erases it too.
 */
async function referenceOf(
  read: ReadMessages,
  { key, at }: RememberOptions,
  { oracle, clock, trajectory, space }: RememberPorts,
): Promise<Reference> {
  const messages = keyOf(read);
  const isDated = read.messages.every((message) => message.at !== undefined);
  const now = (): string => (at === undefined ? clock.now() : instantOf(at));
  if (key === undefined && (isDated || at !== undefined)) return { at: now(), observations: [] };
  const named: Json = key === undefined ? { messages } : { given: contentHash(key.toWellFormed()) };
  const { value, oracle_key } = await oracle.consult({
    scope: { kind: 'call', trajectory, branch: null, agent: AGENT, ordinal: 0 },
    request: { task: 'remember', space, key: named },
    call: () => ({ at: now(), messages }),
  });
  const { at: first, messages: known } = value as {
    readonly at: string;
    readonly messages: string;
  };
  if (known === messages)
    return { at: first, observations: [{ name: 'remember', value, oracle_key }] };
  throw new ChatMemoryError(
    'idempotency_conflict',
    'The key was used for other messages. Use a new key, or repeat the call with the same messages.',
  );
}

/** The facts of messages: as the model reads them, or as the caller gives them. */
async function factsOf(
  messages: readonly Message[],
  reference: string,
  facts: RememberOptions['facts'],
  { predicates, aliases, oracle, trajectory, model, theta }: RememberPorts,
): Promise<Pick<Extraction, 'claims' | 'leftOut' | 'observations'>> {
  const terms = {
    predicates: withAliases(predicates, aliases),
    subjects: 'any',
    reference,
  } as const;
  if (facts === undefined)
    return extractFacts(messages, {
      ...terms,
      oracle,
      trajectory,
      model: model!,
      ...(theta !== undefined && { theta }),
    });
  const answer = { facts: facts.map((fact) => ({ confidence: 1, ...fact })) } as unknown as Json;
  const observed = (): Extraction['observations'] => {
    const value = messages.map(
      ({ id, author, at = reference }): Json => ({ id, author, at: instantOf(at) }),
    );
    return [{ name: 'messages', value, sensitive: true }];
  };
  try {
    const read = await extractWith(async ({ call }) => call(), messages, {
      ...terms,
      model: () => answer,
      attempts: 1,
    });
    return { ...read, observations: observed() };
  } catch (error) {
    // No fact is valid. The error names the first violation. All facts get it.
    if (!isInstance(error, ExtractionError) || error.code !== 'bad_extraction') throw error;
    const { wrong } = error.evidence as { readonly wrong: string };
    return {
      claims: [],
      leftOut: facts.map((_, fact): LeftOutFact => ({ fact, why: wrong })),
      observations: [],
    };
  }
}

/** The predicates, and the declared aliases that a fact may use in their place. */
function withAliases(
  predicates: MemorySpec['predicates'],
  aliases: SpaceAliases,
): MemorySpec['predicates'] {
  const others = aliases.predicates.classes().flatMap(({ name, all }) => {
    const spec = Object.hasOwn(predicates, name) ? predicates[name] : undefined;
    if (spec === undefined) return [];
    return all
      .filter((alias) => !Object.hasOwn(predicates, alias))
      .map((alias) => [alias, { ...spec, description: `the same as "${name}"` }] as const);
  });
  return { ...predicates, ...Object.fromEntries(others) };
}

/** The lists of a result, while they grow. */
type Lists = { readonly [Name in keyof Remembered]: Remembered[Name][number][] };

/** Asserts the facts with the notes of their messages, and sorts them by what became of each. */
async function recorded(
  facts: readonly StatedFact[],
  notes: ReadMessages['notes'],
  observations: readonly ObservationInput[],
  memory: Memory,
): Promise<Remembered> {
  const lists: Lists = {
    ...{ added: [], changed: [], duplicates: [], contradicted: [] },
    ...{ withdrawn: [], skipped: [], questions: [], entries: [] },
  };
  if (facts.length === 0) return lists;
  const noted = facts.map((fact) => ({ ...fact, ...notes.get(fact.source) }));
  const done = await memory.assertEach(noted, { observations });
  for (const { claim, error } of done.leftOut)
    lists.skipped.push({ fact: facts[claim]!, why: error.message });
  for (const { claims, ruling } of done.rulings) {
    const ruled = claims.map((claim) => facts[claim]!);
    await addRuling(lists, ruled, ruling, memory);
  }
  return lists;
}

/** Adds the facts of one proposal. */
async function addRuling(
  lists: Lists,
  facts: readonly StatedFact[],
  ruling: Ruling,
  memory: Memory,
): Promise<void> {
  if (ruling.ruling === 'escalated') {
    const { pending, channel, detail } = ruling;
    lists.questions.push({ pending, channel, detail, facts });
  } else if (ruling.ruling === 'committed') {
    lists.entries.push(ruling.entry.id as Hash);
    const outcomes = await outcomesOf(facts, ruling, memory);
    for (const [n, outcome] of outcomes.entries()) addOutcome(lists, facts[n]!, outcome);
  } else lists.skipped.push(...facts.map((fact) => ({ fact, why: ruling.detail })));
}

function addOutcome(lists: Lists, fact: StatedFact, outcome: Outcome): void {
  switch (outcome.is) {
    case 'added':
      lists.added.push(fact);
      break;
    case 'duplicate':
      lists.duplicates.push(fact);
      break;
    case 'withdrawn':
      lists.withdrawn.push(fact);
      break;
    case 'changed':
      lists.changed.push({ ...fact, was: outcome.was });
      break;
    case 'contradicted':
      lists.contradicted.push({ ...fact, by: outcome.by });
      break;
  }
}
