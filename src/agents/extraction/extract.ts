import { z } from 'zod';
import { form, type Json, refuseOtherCopy, requireForm } from '#base';
import type { Oracle, OracleAnswer, Theta } from '#oracle';
import { answerForm, type ExtractedClaim, readAnswer } from './answer.ts';
import { ExtractionError } from './errors.ts';
import { checkedMessages, type Message } from './message.ts';
import { promptAgain, promptOf } from './prompt.ts';
import { ATTEMPTS_MAX, checkedTerms, type ExtractionTerms } from './terms.ts';

/** What messages state. */
export interface Extracted {
  /** To be asserted; none where nothing is stated. */
  readonly claims: readonly ExtractedClaim[];
  /** How often the model was asked: more than once where it had to be told what is wrong. */
  readonly attempts: number;
}

/** The same, with what a proposal that says it has observed: which messages were read, and what the model answered. */
export interface Extraction extends Extracted {
  readonly observations: readonly ExtractionObservation[];
}

export type ExtractionObservation =
  | { readonly name: 'messages'; readonly value: Json; readonly sensitive: true }
  | { readonly name: 'extraction'; readonly value: Json; readonly oracle_key: string };

export interface ExtractionOptions extends ExtractionTerms {
  /** The log through which the model is asked: what it has an answer to is not asked again, and a replay never asks. */
  readonly oracle: Oracle;
  /** For which trajectory it is asked: no other one is given its answers. */
  readonly trajectory: string;
  /** The speculative branch. Default: none. */
  readonly branch?: string | null;
  /** Who asks. Default: `assize.extraction`. */
  readonly agent?: string;
  /** Which of several answers to the same: another number is asked anew. From 0, which is the default. */
  readonly sample?: number;
}

/** How a model is asked: by an oracle log, in a place of the asker's own for each attempt. */
export type AskModel = (asking: {
  readonly request: Json;
  readonly theta: Theta;
  readonly call: () => Json | Promise<Json>;
}) => Promise<Json>;

/** Who asks in the oracle log where nobody else is named. */
const AGENT = 'assize.extraction';
/** Ordinals are safe integers. */
const SAMPLES_MAX = 1_000_000_000;

const OPTIONS = form.members({
  oracle: form.members({ consult: form.code }),
  trajectory: form.text,
  branch: form.of('a text or null', (given) => given == null || typeof given === 'string'),
  agent: form.optional(form.text),
  sample: form.optional(form.whole),
});

/**
 * What messages state, by a model that is asked through the oracle log: `claims` for `Memory.assertMany`, with `observations` beside
 * them. Nothing is said yet: that is a proposal, which a writ has to cover like any.
 *
 * What the model answers is data. It counts where it has the form that was asked for: of declared predicates, of subjects that may be
 * spoken of, of these messages; one thing that is wrong, and it is asked anew, with what that is. Each answer is in the log before it
 * counts. The same messages under the same terms are the same questions: they ask nobody, and make the same claims.
 *
 * @throws ExtractionError `bad_messages`, `bad_terms`, `bad_extraction`; OracleError as `consult` does; what the model throws;
 * ArgumentError `bad_argument`
 */
export async function extractFacts(messages: readonly Message[], options: ExtractionOptions): Promise<Extraction> {
  requireForm(OPTIONS, options, 'options');
  refuseOtherCopy(options.oracle, 'The option oracle');
  const { oracle, trajectory, branch = null, agent = AGENT, sample = 0 } = options;
  if (sample > SAMPLES_MAX)
    throw new ExtractionError('bad_terms', `A sample is a number from 0 to ${SAMPLES_MAX}.`, {
      evidence: { term: 'sample' },
    });
  const answers: OracleAnswer[] = [];
  const ask: AskModel = async (asking) => {
    const ordinal = sample * ATTEMPTS_MAX + answers.length;
    const answer = await oracle.consult({ ...asking, scope: { kind: 'call', trajectory, branch, agent, ordinal } });
    answers.push(answer);
    return answer.value;
  };
  const { claims, attempts } = await extractThrough(ask, messages, options).catch((error: unknown) => {
    if (!(error instanceof ExtractionError) || answers.length === 0) throw error;
    const evidence = { ...error.evidence, oracle_keys: answers.map(({ oracle_key }) => oracle_key) };
    throw new ExtractionError(error.code, error.message, { evidence, cause: error });
  });
  return { claims, attempts, observations: [messagesRead(messages), ...answers.map(answered)] };
}

/**
 * The same by any oracle log that gives each question a place of its own, as that of an agent does.
 *
 * @throws as `extractFacts`, and what `ask` throws
 */
export async function extractThrough(
  ask: AskModel,
  messages: readonly Message[],
  terms: ExtractionTerms,
): Promise<Extracted> {
  requireForm(form.code, ask, 'ask');
  const checked = checkedTerms(terms);
  const { model, theta, attempts } = checked;
  const dated = checkedMessages(messages, checked.reference);
  const expected = answerForm(dated.length, checked);
  const schema = z.toJSONSchema(expected) as Json;
  const first = promptOf(dated, checked);
  let prompt = first;
  for (let attempt = 1; ; attempt++) {
    const asked = prompt;
    const request = { task: 'extraction', prompt: asked };
    const answer = await ask({ request, theta, call: () => model(asked, schema) });
    const read = readAnswer(answer, expected, dated, checked);
    if ('claims' in read) return { claims: read.claims, attempts: attempt };
    if (attempt === attempts) throw notOfTheForm(read.wrong, attempts);
    prompt = promptAgain(first, answer, read.wrong);
  }
}

function messagesRead(messages: readonly Message[]): ExtractionObservation {
  const value = messages.map(({ id, author, at = null }): Json => ({ id, author, at }));
  return { name: 'messages', value, sensitive: true };
}

function answered({ value, oracle_key }: OracleAnswer): ExtractionObservation {
  return { name: 'extraction', value, oracle_key };
}

function notOfTheForm(wrong: string, attempts: number): ExtractionError {
  return new ExtractionError(
    'bad_extraction',
    `The model’s answer is not what it was asked for, at attempt ${attempts} of ${attempts}: ${wrong}. Nothing is said. Give fewer messages, another model, or another sample: the same again finds the same answers.`,
    { evidence: { wrong, attempts } },
  );
}
