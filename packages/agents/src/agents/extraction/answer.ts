import { isAssizeError, isInstance, type Json } from 'assize/internal/base';
import {
  type Instant,
  issueText,
  issueWords,
  parseInstant,
  parseStrict,
} from 'assize/internal/canon';
import { STATEMENT_TEXTS, STATEMENTS_MAX } from 'assize/internal/kernel';
import { onlyObject, stripFence } from 'assize/internal/oracle';
import { z } from 'zod';
import type { DatedMessage } from './message.ts';
import type { CheckedTerms } from './terms.ts';

/** A fact stated by a message, ready to be asserted. */
export interface ExtractedClaim {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly confidence: number;
  /** At least one of both, so the same message makes the same claim. */
  readonly valid: { readonly from?: Instant; readonly to?: Instant };
  /** Set with `valid.to`: the message states that the fact no longer holds then. */
  readonly ends?: true;
  /** The id of the message. */
  readonly source: string;
}

/** A fact of the answer that breaks the form. The others are used. */
export interface LeftOutFact {
  /** Its position in the model's last answer, from 0. */
  readonly fact: number;
  /** The violation, without subjects and objects. */
  readonly why: string;
}

/** The schema of an answer, and that of each of its facts. */
export interface AnswerForm {
  readonly whole: z.ZodType<{ readonly facts: readonly Fact[] }>;
  readonly fact: z.ZodType<Fact>;
}

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
  const fact = z.strictObject({
    message: z.int().min(1).max(messages),
    subject: z.preprocess(
      composed,
      typeof subjects === 'string' ? STATEMENT_TEXTS.name : known(subjects),
    ),
    predicate: declared,
    object: STATEMENT_TEXTS.object,
    confidence: z.number().min(0).max(1),
    from: time,
    to: time,
  });
  return { whole: z.strictObject({ facts: z.array(fact).max(STATEMENTS_MAX) }), fact };
}

/** An answer whose facts can be read one by one. */
const ENVELOPE = z.strictObject({ facts: z.array(z.unknown()).max(STATEMENTS_MAX) });

/**
 * A longer name exceeds 512 characters after composition: that shortens a text at most to a
 * quarter. Composition of longer texts can take too long.
 */
const COMPOSED_MAX = 2_048;

/** A name taken from a message may use another Unicode form of the same name. */
function composed(name: unknown): unknown {
  return typeof name === 'string' && name.length <= COMPOSED_MAX ? name.normalize('NFC') : name;
}

/** The valid claims of an answer without duplicates, with its first violation, if there is one. */
export interface ReadAnswer {
  readonly claims: readonly ExtractedClaim[];
  readonly leftOut: readonly LeftOutFact[];
  /** Without subjects and objects. */
  readonly wrong?: string;
}

export function readAnswer(
  answer: Json,
  form: AnswerForm,
  messages: readonly DatedMessage[],
  terms: CheckedTerms,
): ReadAnswer {
  try {
    const value = typeof answer === 'string' ? parsedText(answer) : answer;
    const envelope = ENVELOPE.safeParse(value, { error: issueWords });
    if (!envelope.success) return { claims: [], leftOut: [], wrong: issueText(envelope.error) };
    const claims = new Map<string, ExtractedClaim>();
    const leftOut: LeftOutFact[] = [];
    for (const [n, given] of envelope.data.facts.entries()) {
      const read = readFact(given, n, form, messages, terms);
      if ('why' in read) leftOut.push({ fact: n, why: read.why });
      else claims.set(identityOf(read), read);
    }
    return {
      claims: [...claims.values()],
      leftOut,
      ...(leftOut.length > 0 && { wrong: leftOut[0]!.why }),
    };
  } catch (error) {
    if (isInstance(error, InvalidAnswer)) return { claims: [], leftOut: [], wrong: error.message };
    if (isAssizeError(error)) {
      const why = error.message.replace(/\.$/, '');
      return { claims: [], leftOut: [], wrong: `it is not JSON that can be read: ${why}` };
    }
    throw error;
  }
}

function readFact(
  given: unknown,
  n: number,
  { fact }: AnswerForm,
  messages: readonly DatedMessage[],
  terms: CheckedTerms,
): ExtractedClaim | { readonly why: string } {
  const at = `/facts/${n}`;
  const parsed = fact.safeParse(given, { error: issueWords });
  if (!parsed.success) return { why: issueText(parsed.error, ['facts', String(n)]) };
  try {
    return claimOf(parsed.data, at, messages, terms);
  } catch (error) {
    if (isInstance(error, InvalidAnswer)) return { why: error.message };
    throw error;
  }
}

class InvalidAnswer extends Error {}

/** The whole answer, or the one JSON object in it. */
function parsedText(answer: string): Json {
  const text = withoutFence(answer);
  try {
    return parseStrict(text);
  } catch (error) {
    const object = onlyObject(answer);
    if (object === undefined) throw error;
    return parseStrict(object);
  }
}

/** With two fenced texts, one may come from a message, and the right one is unknown. */
function withoutFence(answer: string): string {
  if ((answer.match(/^```/gm)?.length ?? 0) > 2)
    throw new InvalidAnswer('it has more than one fenced text');
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
    throw new InvalidAnswer(
      `${at}/subject: nothing may be said but of the author of the message, by just that name`,
    );
  const begins = instantOf(from ?? undefined, `${at}/from`) ?? written;
  const ends = instantOf(to ?? undefined, `${at}/to`);
  const stated = {
    subject,
    predicate,
    object,
    confidence: Math.min(confidence, confidenceMax),
    source: id,
  };
  if (ends === undefined) return { ...stated, valid: { from: begins } };
  // Without a start, a fact that has ended is known only by its end.
  if (from == null && ends <= begins) return { ...stated, valid: { to: ends }, ends: true };
  if (ends <= begins) throw new InvalidAnswer(`${at}/to: it ends when it begins, or before`);
  return { ...stated, valid: { from: begins, to: ends }, ends: true };
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
