import { arg, checkArgument, type Json } from 'assize/internal/base';
import { type Instant, readInstant, type Time } from 'assize/internal/canon';
import { type MemorySpec, STATEMENT_TEXTS } from 'assize/internal/kernel';
import type { Theta } from 'assize/internal/oracle';
import { ExtractionError } from './errors.ts';

/**
 * A model. It receives the prompt as text and the JSON Schema of the answer, for models with
 * structured output. It returns the answer as JSON, or as text that contains the JSON, with or
 * without fences. The answer is always validated.
 */
export type Model = (prompt: string, schema: Json) => Json | Promise<Json>;

/** The allowed content of an extraction, and the model. */
export interface ExtractionTerms {
  readonly model: Model;
  /** All or some predicates of the domain. Others are refused. */
  readonly predicates: MemorySpec['predicates'];
  /** The allowed subjects: these names, the author of the message, or any subject. */
  readonly subjects: readonly string[] | 'author' | 'any';
  /** The time of messages without a time, in any form of `Time`. */
  readonly reference?: Time;
  /**
   * The confidence of the model's most certain fact, from 0 to 1. Confidence can decide
   * contradictions. Default: 1.
   */
  readonly confidenceMax?: number;
  /** The model and its settings. Other settings make another question. */
  readonly theta?: Omit<Theta, 'prompt'>;
  /**
   * Maximum number of model calls, 1 to 10, if answers are not in the requested form. Default: 3.
   */
  readonly attempts?: number;
}

/** Maximum number of attempts of one extraction. */
export const ATTEMPTS_MAX = 10;
const ATTEMPTS = 3;

/** Terms with all defaults. */
export type CheckedTerms = Omit<ExtractionTerms, 'reference'> & {
  readonly reference?: Instant;
} & Required<Pick<ExtractionTerms, 'attempts' | 'confidenceMax' | 'theta'>>;

const isSubjects = (given: unknown): boolean =>
  given === 'author' || given === 'any' || arg.list(arg.text)(given) === undefined;

const TERMS = arg.members({
  model: arg.code,
  predicates: arg.record(
    arg.members({ cardinality: arg.text, strategy: arg.text, description: arg.optional(arg.text) }),
  ),
  subjects: arg.of('a list of names, "author" or "any"', isSubjects),
  reference: arg.any,
  confidenceMax: arg.optional(arg.number),
  theta: arg.optional(arg.object),
  attempts: arg.optional(arg.whole),
});

/** @throws ExtractionError `bad_argument`; ArgumentError `bad_argument` */
export function checkedTerms(given: ExtractionTerms): CheckedTerms {
  checkArgument(TERMS, given, 'terms');
  const { model, predicates, subjects, confidenceMax = 1, theta = {}, attempts = ATTEMPTS } = given;
  const isName = (name: string): boolean => STATEMENT_TEXTS.name.safeParse(name).success;
  if (Object.keys(predicates).length === 0 || !Object.keys(predicates).every(isName))
    throw bad(
      'predicates',
      'it must have at least one predicate, as the memory of the domain declares it',
    );
  if (Array.isArray(subjects) && (subjects.length === 0 || !subjects.every(isName)))
    throw bad(
      'subjects',
      'it must have at least one name, of 1 to 512 characters in the composed form of Unicode (NFC)',
    );
  const reference = readInstant(given.reference);
  if (given.reference !== undefined && reference === undefined)
    throw bad('reference', 'it must be an instant such as 2026-03-23T09:00:00.000000Z');
  if (!(confidenceMax >= 0 && confidenceMax <= 1))
    throw bad('confidenceMax', 'it must be a number from 0 to 1');
  if (attempts < 1 || attempts > ATTEMPTS_MAX)
    throw bad('attempts', `it must be a whole number from 1 to ${ATTEMPTS_MAX}`);
  return {
    model,
    predicates,
    subjects,
    confidenceMax,
    theta,
    attempts,
    ...(reference && { reference }),
  };
}

function bad(term: keyof ExtractionTerms, what: string): ExtractionError {
  return new ExtractionError('bad_argument', `The term ${term} is not valid: ${what}.`, {
    evidence: { term },
  });
}
