import {
  arg,
  checkArgument,
  isInstance,
  type Json,
  refuseDuplicatePackage,
} from 'assize/internal/base';
import { instantOf } from 'assize/internal/canon';
import type { Oracle, OracleAnswer, Theta } from 'assize/internal/oracle';
import { z } from 'zod';
import {
  answerForm,
  type ExtractedClaim,
  type LeftOutFact,
  type ReadAnswer,
  readAnswer,
} from './answer.ts';
import { ExtractionError } from './errors.ts';
import { checkedMessages, type Message } from './message.ts';
import { correctionPrompt, promptOf } from './prompt.ts';
import { ATTEMPTS_MAX, checkedTerms, type ExtractionTerms } from './terms.ts';

/** The facts stated by messages. */
export interface Extracted {
  /** The claims to assert. Empty if the messages state no fact. */
  readonly claims: readonly ExtractedClaim[];
  /** The facts of the used answer that break the form, also after the last attempt. */
  readonly leftOut: readonly LeftOutFact[];
  /** Number of model calls. More than one if an answer had to be corrected. */
  readonly attempts: number;
}

/**
 * The same, with the observations of a proposal that asserts the claims: the messages and the
 * model's answers.
 */
export interface Extraction extends Extracted {
  readonly observations: readonly ExtractionObservation[];
}

export type ExtractionObservation =
  | { readonly name: 'messages'; readonly value: Json; readonly sensitive: true }
  | { readonly name: 'extraction'; readonly value: Json; readonly oracle_key: string };

export interface ExtractionOptions extends ExtractionTerms {
  /**
   * The log through which the model is asked. Questions with a logged answer do not call the model,
   * and a replay never calls it.
   */
  readonly oracle: Oracle;
  /** The trajectory of the questions. Other trajectories do not get the answers. */
  readonly trajectory: string;
  /** The speculative branch. Default: none. */
  readonly branch?: string | null;
  /** The name of the caller in the log. Default: `assize.extraction`. */
  readonly agent?: string;
  /** The number of the sample, from 0. Another number asks again. Default: 0. */
  readonly sample?: number;
}

/** Asks a model through an oracle log, with a separate position for each attempt. */
export type AskModel = (asking: {
  readonly request: Json;
  readonly theta: Theta;
  readonly call: () => Json | Promise<Json>;
}) => Promise<Json>;

/** The default name of the caller in the oracle log. */
const AGENT = 'assize.extraction';
/** Ordinals are safe integers. */
const SAMPLES_MAX = 1_000_000_000;

const OPTIONS = arg.members({
  oracle: arg.members({ consult: arg.code }),
  trajectory: arg.text,
  branch: arg.of('a text or null', (given) => given == null || typeof given === 'string'),
  agent: arg.optional(arg.text),
  sample: arg.optional(arg.whole),
});

/**
 * Extracts the facts stated by messages with a model behind the oracle log. Returns `claims` for
 * `Memory.assertMany`, with `observations`. The function asserts nothing: that needs a proposal,
 * covered by a writ.
 *
 * The model's answer is data. An answer is accepted only in the requested form: declared
 * predicates, allowed subjects, and the given messages. On a violation the model is asked again
 * with a description of it. After the last attempt, the valid facts of the answer with the most of
 * them are used, and the others are named in `leftOut`. The log has each answer before it is used.
 * The same messages under the same terms ask the same questions, so they call no model and make the
 * same claims.
 *
 * @throws ExtractionError `bad_argument`, `bad_extraction`; OracleError the errors of `consult`;
 * the errors of the model; ArgumentError `bad_argument`
 */
export async function extractFacts(
  messages: readonly Message[],
  options: ExtractionOptions,
): Promise<Extraction> {
  checkArgument(OPTIONS, options, 'options');
  refuseDuplicatePackage(options.oracle, 'The option oracle');
  const { oracle, trajectory, branch = null, agent = AGENT, sample = 0 } = options;
  if (sample > SAMPLES_MAX)
    throw new ExtractionError(
      'bad_argument',
      `The sample is not valid. Pass a number from 0 to ${SAMPLES_MAX}.`,
      {
        evidence: { term: 'sample' },
      },
    );
  const answers: OracleAnswer[] = [];
  const ask: AskModel = async (asking) => {
    const ordinal = sample * ATTEMPTS_MAX + answers.length;
    const answer = await oracle.consult({
      ...asking,
      scope: { kind: 'call', trajectory, branch, agent, ordinal },
    });
    answers.push(answer);
    return answer.value;
  };
  const found = await extractWith(ask, messages, options).catch((error: unknown) => {
    if (!isInstance(error, ExtractionError) || answers.length === 0) throw error;
    const evidence = {
      ...error.evidence,
      oracle_keys: answers.map(({ oracle_key }) => oracle_key),
    };
    throw new ExtractionError(error.code, error.message, { evidence, cause: error });
  });
  return { ...found, observations: [messagesRead(messages), ...answers.map(answered)] };
}

/**
 * Same as `extractFacts`, with any oracle log that gives each question its own position, as an
 * agent's does.
 *
 * @throws the errors of `extractFacts`, and of `ask`
 */
export async function extractWith(
  ask: AskModel,
  messages: readonly Message[],
  terms: ExtractionTerms,
): Promise<Extracted> {
  checkArgument(arg.code, ask, 'ask');
  const checked = checkedTerms(terms);
  const { model, theta, attempts } = checked;
  const dated = checkedMessages(messages, checked.reference);
  const expected = answerForm(dated.length, checked);
  const schema = z.toJSONSchema(expected.whole) as Json;
  const first = promptOf(dated, checked);
  let prompt = first;
  let best: ReadAnswer | undefined;
  for (let attempt = 1; ; attempt++) {
    const asked = prompt;
    const request = { task: 'extraction', prompt: asked };
    const answer = await ask({ request, theta, call: () => model(asked, schema) });
    const read = readAnswer(answer, expected, dated, checked);
    const { claims, leftOut, wrong } = read;
    if (wrong === undefined) return { claims, leftOut, attempts: attempt };
    if (best === undefined || claims.length >= best.claims.length) best = read;
    if (attempt === attempts) {
      if (best.claims.length === 0) throw notOfTheForm(wrong, attempts);
      return { claims: best.claims, leftOut: best.leftOut, attempts };
    }
    prompt = correctionPrompt(first, answer, wrong);
  }
}

function messagesRead(messages: readonly Message[]): ExtractionObservation {
  const value = messages.map(({ id, author, at = null }): Json => {
    return { id, author, at: typeof at === 'object' && at !== null ? instantOf(at) : at };
  });
  return { name: 'messages', value, sensitive: true };
}

function answered({ value, oracle_key }: OracleAnswer): ExtractionObservation {
  return { name: 'extraction', value, oracle_key };
}

function notOfTheForm(wrong: string, attempts: number): ExtractionError {
  return new ExtractionError(
    'bad_extraction',
    `The answer of the model is not valid at attempt ${attempts} of ${attempts}: ${wrong}. Pass fewer messages, another model or another sample; a repetition returns the recorded answers.`,
    { evidence: { wrong, attempts } },
  );
}
