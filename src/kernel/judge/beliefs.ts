import { z } from 'zod';
import { segment } from '#authority';
import { form, type Json, requireForm } from '#base';
import { copyJson, issueText, type Misfits } from '#canon';
import type { ActionSpec, Binding } from '../domain/define-domain.ts';
import { compileScope } from '../domain/footprint.ts';
import { messageOf } from '../errors.ts';
import { refusePromise } from './candidate.ts';

/** The built-in action of who has nothing to say but what is believed, in domains that declare a memory. */
export const BELIEVE_ACTION = 'assize.believe';

/** What a domain says of its memory. */
export interface MemorySpec {
  /** Nothing is believed under a predicate that is not declared here. */
  readonly predicates: { readonly [predicate: string]: PredicateSpec };
}

/** What is said once of a predicate, for all its facts; see `memory/predicate.ts`. */
export interface PredicateSpec {
  readonly cardinality: 'single-valued' | 'multi-valued';
  readonly strategy: 'lww' | 'lww-valid' | 'evi' | 'await' | 'rule';
  /** Default `keep`. */
  readonly remainder?: 'keep' | 'drop';
  /** Who is asked where a person has to choose; a key of `counselors`. Default: any of them. */
  readonly channel?: string;
  /** What it means, for whoever has to choose a predicate: people, and models that read messages. At most 2,000 characters. */
  readonly description?: string;
}

interface Said {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
}

/** `from` and `to` are instants; without them it is from the proposal's time on, and without an end. */
interface ValidTime {
  readonly from?: string;
  readonly to?: string;
}

interface Claimed extends Said {
  readonly object: string;
  /** From 0 to 1. Default 1. */
  readonly confidence?: number;
  /** The caller's own name of where it was heard. The same again is the same claim. Default: this proposal. */
  readonly source?: string;
}

/**
 * What a proposal wants to be believed, or not any more. `assert`: it is so. `change`: from then on it is so. `correct`: in that
 * period it was recorded wrongly, and is so; `was` says which object was wrong. `retract`: in that period it is not believed.
 */
export type Saying =
  | (Claimed & { readonly verb: 'assert'; readonly valid?: ValidTime; readonly strategy?: PredicateSpec['strategy'] })
  | (Claimed & { readonly verb: 'change'; readonly from?: string })
  | (Claimed & {
      readonly verb: 'correct';
      readonly valid: { readonly from: string; readonly to: string };
      readonly was?: string;
    })
  | (Said & {
      readonly verb: 'retract';
      readonly valid: { readonly from: string; readonly to: string };
      readonly object?: string;
    });

/** Names and objects stand in writs' scopes, in entries and in indexes. */
const NAME_MAX = 512;
const OBJECT_MAX = 16_384;
const DESCRIPTION_MAX = 2_000;
/** Sayings of one proposal: all of them stand in one entry. */
export const SAYINGS_MAX = 1_000;

const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'no U+0000, and no half of a surrogate pair');
// What is too long was refused for that, and may take for ever to compose.
const name = text(NAME_MAX).refine(
  (value) => value.length > NAME_MAX || value === value.normalize('NFC'),
  "Unicode's composed form (NFC)",
);

/** What may be said, for whoever makes sayings of what comes from outside: subjects and predicates, objects, sources. */
export const SAYING_TEXTS: {
  readonly name: z.ZodType<string>;
  readonly object: z.ZodType<string>;
  readonly source: z.ZodType<string>;
} = Object.freeze({ name, object: text(OBJECT_MAX), source: text(NAME_MAX) });

const said = { space: name, subject: name, predicate: name };
const claimed = {
  ...said,
  object: text(OBJECT_MAX),
  confidence: z.number().min(0).max(1).optional(),
  source: text(NAME_MAX).optional(),
};
const wholePeriod = z.strictObject({ from: z.string(), to: z.string() });
const strategy = z.enum(['lww', 'lww-valid', 'evi', 'await', 'rule']);

const SAYING = z.discriminatedUnion('verb', [
  z.strictObject({
    verb: z.literal('assert'),
    ...claimed,
    valid: z.strictObject({ from: z.string().optional(), to: z.string().optional() }).optional(),
    strategy: strategy.optional(),
  }),
  z.strictObject({ verb: z.literal('change'), ...claimed, from: z.string().optional() }),
  z.strictObject({ verb: z.literal('correct'), ...claimed, valid: wholePeriod, was: text(OBJECT_MAX).optional() }),
  z.strictObject({ verb: z.literal('retract'), ...said, valid: wholePeriod, object: text(OBJECT_MAX).optional() }),
]);
const SAYINGS = z.array(SAYING).max(SAYINGS_MAX);

/** The form of what a domain says of its memory. */
export const MEMORY_SPEC = z.strictObject({
  predicates: z.record(
    z.string().min(1).max(NAME_MAX),
    z.strictObject({
      cardinality: z.enum(['single-valued', 'multi-valued']),
      strategy,
      remainder: z.enum(['keep', 'drop']).optional(),
      channel: z.string().optional(),
      description: z.string().min(1).max(DESCRIPTION_MAX).optional(),
    }),
  ),
});

const NOTHING: Binding = Object.freeze({
  reads: [],
  writes: [],
  scope: compileScope([]),
  closure: [],
  closureScope: compileScope([]),
});

/** Changes no state; what it says is in its arguments. */
export const believeAction: ActionSpec = Object.freeze({
  process: BELIEVE_ACTION,
  args: z.strictObject({ sayings: SAYINGS.min(1) }),
  apply: () => {},
  beliefs: (args: { readonly sayings: readonly Saying[] }) => args.sayings,
});

export const BELIEVING: Binding = NOTHING;

/**
 * What an action wants to be believed, as a copy; a fault where that is no list of sayings, or of predicates that the domain does not
 * declare.
 */
export function sayingsOf(
  memory: MemorySpec | undefined,
  action: ActionSpec,
  args: Json,
  context: { readonly role: Readonly<Record<string, string>> },
): { readonly sayings: readonly Saying[] } | { readonly fault: string; readonly code?: string } {
  if (action.beliefs === undefined) return { sayings: [] };
  let given: unknown;
  try {
    given = action.beliefs(args, context);
    refusePromise(given, 'beliefs');
  } catch (error) {
    return { fault: messageOf(error) };
  }
  const parsed = SAYINGS.safeParse(given);
  if (!parsed.success)
    return {
      fault: `what it says is none that can be believed: ${issueText(parsed.error)}`,
      ...misfitCode(parsed.error),
    };
  const declared = memory?.predicates ?? {};
  const unknown = parsed.data.find(({ predicate }) => !Object.hasOwn(declared, predicate));
  if (unknown !== undefined)
    return {
      fault: `the domain declares no predicate ${JSON.stringify(unknown.predicate)} in its memory`,
      code: 'unknown_predicate',
    };
  return { sayings: copyJson(parsed.data) as unknown as readonly Saying[] };
}

/** By the member at fault. */
const CODES: Readonly<Record<string, string>> = {
  confidence: 'bad_confidence',
  strategy: 'unknown_strategy',
  from: 'no_instant',
  to: 'no_instant',
  ...Object.fromEntries(['space', 'subject', 'predicate', 'object', 'source', 'was'].map((name) => [name, 'bad_text'])),
};

/**
 * What the pure floor calls what is told of a saying (`memory/errors.ts`), if it has a code for it: who reads a rejection finds
 * the name that an error of a memory has. A member that there is not, which is told first, has none.
 */
export function misfitCode({ issues }: Misfits): { readonly code?: string } {
  if (issues.some(({ code }) => code === 'unrecognized_keys')) return {};
  const member = String(issues[0]?.path.at(-1));
  return Object.hasOwn(CODES, member) ? { code: CODES[member] as string } : {};
}

/**
 * The resource that a writ must cover to say something of a subject: `memory:clinic:patient~3a7:allergy`.
 *
 * @throws ArgumentError `bad_argument`
 */
export function memoryScope(said: Said): string {
  requireForm(SAID, said, 'said');
  const { space, subject, predicate } = said;
  return ['memory', ...[space, subject, predicate].map(segment)].join(':');
}

const SAID = form.members({ space: form.text, subject: form.text, predicate: form.text });
