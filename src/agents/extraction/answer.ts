import { z } from 'zod';
import { isAssizeError, type Json } from '#base';
import { type Instant, issueText, issueWords, parseInstant, parseStrict } from '#canon';
import { STATEMENT_TEXTS, STATEMENTS_MAX } from '#kernel';
import { stripFence } from '#oracle';
import type { DatedMessage } from './message.ts';
import type { CheckedTerms } from './terms.ts';

/** A fact stated by a message, ready to be asserted. */
export interface ExtractedClaim {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly confidence: number;
  /** The start is always present, so the same message makes the same claim. */
  readonly valid: { readonly from: Instant; readonly to?: Instant };
  /** The id of the message. */
  readonly source: string;
}

/** The schema of an answer. Answers of another form are refused. */
export type AnswerForm = z.ZodType<{ readonly facts: readonly Fact[] }>;

interface Fact {
  readonly message: number;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly confidence: number;
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
}

export function answerForm(messages: number, { predicates, subjects }: CheckedTerms): AnswerForm {
  const declared = z.enum(Object.keys(predicates).sort(), {
    error: ({ input }) => `no predicate ${shown(input)} is declared`,
  });
  const known = (names: readonly string[]) =>
    z.enum([...names], { error: () => 'nothing may be said of this subject, or not by this name' });
  const time = z.string().nullable().optional();
  return z.strictObject({
    facts: z
      .array(
        z.strictObject({
          message: z.int().min(1).max(messages),
          subject: z.preprocess(composed, typeof subjects === 'string' ? STATEMENT_TEXTS.name : known(subjects)),
          predicate: declared,
          object: STATEMENT_TEXTS.object,
          confidence: z.number().min(0).max(1),
          from: time,
          to: time,
        }),
      )
      .max(STATEMENTS_MAX),
  });
}

/**
 * A longer name exceeds 512 characters after composition, which shortens a text at most to a
 * quarter. Composition of longer texts can take too long.
 */
const COMPOSED_MAX = 2_048;

/** A name taken from a message may use another Unicode form of the same name. */
function composed(name: unknown): unknown {
  return typeof name === 'string' && name.length <= COMPOSED_MAX ? name.normalize('NFC') : name;
}

/** The claims of an answer without duplicates, or its violation without subjects and objects. */
export function readAnswer(
  answer: Json,
  form: AnswerForm,
  messages: readonly DatedMessage[],
  terms: CheckedTerms,
): { readonly claims: readonly ExtractedClaim[] } | { readonly wrong: string } {
  try {
    const value = typeof answer === 'string' ? parseStrict(withoutFence(answer)) : answer;
    const parsed = form.safeParse(value, { error: issueWords });
    if (!parsed.success) return { wrong: issueText(parsed.error) };
    const claims = parsed.data.facts.map((fact, n) => claimOf(fact, `/facts/${n}`, messages, terms));
    return { claims: [...new Map(claims.map((claim) => [identityOf(claim), claim])).values()] };
  } catch (error) {
    if (error instanceof InvalidAnswer) return { wrong: error.message };
    if (isAssizeError(error)) return { wrong: `it is not JSON that can be read: ${error.message.replace(/\.$/, '')}` };
    throw error;
  }
}

class InvalidAnswer extends Error {}

/** With two fenced texts, one may come from a message, and the right one is unknown. */
function withoutFence(answer: string): string {
  if ((answer.match(/^```/gm)?.length ?? 0) > 2) throw new InvalidAnswer('it has more than one fenced text');
  return stripFence(answer);
}

function claimOf(
  { message, subject, predicate, object, confidence, from, to }: Fact,
  at: string,
  messages: readonly DatedMessage[],
  { subjects, confidenceMax }: CheckedTerms,
): ExtractedClaim {
  const { id, author, at: written } = messages[message - 1] as DatedMessage;
  if (subjects === 'author' && subject !== author)
    throw new InvalidAnswer(`${at}/subject: nothing may be said but of the author of the message, by just that name`);
  const begins = instantOf(from ?? undefined, `${at}/from`) ?? written;
  const ends = instantOf(to ?? undefined, `${at}/to`);
  if (ends !== undefined && ends <= begins)
    throw new InvalidAnswer(
      from == null
        ? `${at}/to: it ends before the message was written; say with from since when it was so`
        : `${at}/to: it ends when it begins, or before`,
    );
  const valid = { from: begins, ...(ends !== undefined && { to: ends }) };
  return { subject, predicate, object, confidence: Math.min(confidence, confidenceMax), valid, source: id };
}

/** A day stands for its start in UTC. */
function instantOf(text: string | undefined, at: string): Instant | undefined {
  if (text === undefined) return undefined;
  try {
    return parseInstant(text);
  } catch (error) {
    if (isAssizeError(error)) throw new InvalidAnswer(`${at}: ${error.message.replace(/\.$/, '')}`);
    throw error;
  }
}

/** The model's confidence is not part of a claim's identity. */
function identityOf({ subject, predicate, object, valid, source }: ExtractedClaim): string {
  return JSON.stringify([subject, predicate, object, valid.from, valid.to, source]);
}

/** A name invented by a model can have any length. */
function shown(input: unknown): string {
  return JSON.stringify(String(input).slice(0, 64));
}
