import { form, type Json, requireForm } from '#base';
import { type Instant, isInstant } from '#canon';
import { type MemorySpec, SAYING_TEXTS } from '#kernel';
import type { Theta } from '#oracle';
import { ExtractionError } from './errors.ts';

/**
 * Any model: what it is asked, as text, and the JSON Schema of what it is to answer, for those that can be held to one. It answers with
 * that as JSON, or as a text that has it, also between fences. What it answers is never taken on trust.
 */
export type Model = (prompt: string, schema: Json) => Json | Promise<Json>;

/** What may be said because of messages, and who reads them. */
export interface ExtractionTerms {
  readonly model: Model;
  /** Those that the domain declares, or some of them: nothing is said under another one. */
  readonly predicates: MemorySpec['predicates'];
  /** Of whom something may be said: of these; of whoever wrote the message, by the author's name; or of anybody. */
  readonly subjects: readonly string[] | 'author' | 'any';
  /** When messages were written that say no time. */
  readonly reference?: Instant;
  /** What the model is surest of counts so much: by confidence a fact may win against others. From 0 to 1. Default 1. */
  readonly confidenceMax?: number;
  /** Which model it is, and how it is set: another one is another question. */
  readonly theta?: Omit<Theta, 'prompt'>;
  /** How often it is asked at most, 1 to 10: again where its answer is not of the form. Default 3. */
  readonly attempts?: number;
}

/** Most attempts of one extraction. */
export const ATTEMPTS_MAX = 10;
const ATTEMPTS = 3;

/** With nothing left out. */
export type CheckedTerms = ExtractionTerms & Required<Pick<ExtractionTerms, 'attempts' | 'confidenceMax' | 'theta'>>;

const isSubjects = (given: unknown): boolean =>
  given === 'author' || given === 'any' || form.list(form.text)(given) === undefined;

const TERMS = form.members({
  model: form.code,
  predicates: form.record(
    form.members({ cardinality: form.text, strategy: form.text, description: form.optional(form.text) }),
  ),
  subjects: form.of('a list of names, "author" or "any"', isSubjects),
  reference: form.optional(form.text),
  confidenceMax: form.optional(form.number),
  theta: form.optional(form.object),
  attempts: form.optional(form.whole),
});

/** @throws ExtractionError `bad_terms`; ArgumentError `bad_argument` */
export function checkedTerms(given: ExtractionTerms): CheckedTerms {
  requireForm(TERMS, given, 'terms');
  const { model, predicates, subjects, reference, confidenceMax = 1, theta = {}, attempts = ATTEMPTS } = given;
  const isName = (name: string): boolean => SAYING_TEXTS.name.safeParse(name).success;
  if (Object.keys(predicates).length === 0 || !Object.keys(predicates).every(isName))
    throw bad('predicates', 'name one at least, as the domain’s memory declares them');
  if (Array.isArray(subjects) && (subjects.length === 0 || !subjects.every(isName)))
    throw bad('subjects', 'name one at least, of 1 to 512 characters in Unicode’s composed form (NFC)');
  if (reference !== undefined && !isInstant(reference))
    throw bad('reference', 'give an instant such as 2026-03-23T09:00:00.000000Z');
  if (!(confidenceMax >= 0 && confidenceMax <= 1)) throw bad('confidenceMax', 'give a number from 0 to 1');
  if (attempts < 1 || attempts > ATTEMPTS_MAX) throw bad('attempts', `give a whole number from 1 to ${ATTEMPTS_MAX}`);
  return { model, predicates, subjects, confidenceMax, theta, attempts, ...(reference && { reference }) };
}

function bad(term: keyof ExtractionTerms, what: string): ExtractionError {
  return new ExtractionError('bad_terms', `Nothing can be said under these terms: of ${term}, ${what}.`, {
    evidence: { term },
  });
}
