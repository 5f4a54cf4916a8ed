import { CallError, ofPlain, toPlain } from '@assize/gate/internal/calls';
import type { LanguageModelMiddleware } from 'ai';
import { arg, checkArgument, type Json } from 'assize/internal/base';
import type { CallScope, Oracle } from 'assize/internal/oracle';
import { present } from './present.ts';
import { type ModelStream, recordedStream } from './recorded-stream.ts';

export interface RecordedModelOptions {
  /** The run, such as the id of the conversation. A repetition of it gets the recorded answers. */
  readonly run: string;
  /** The trajectory to which the answers belong. Default: `calls`. */
  readonly trajectory?: string;
  /** The agent that asks. Default: `agent`. */
  readonly agent?: string;
}

type Generate = NonNullable<LanguageModelMiddleware['wrapGenerate']>;
type Stream = NonNullable<LanguageModelMiddleware['wrapStream']>;
type Params = Parameters<Generate>[0]['params'];
type Model = Parameters<Generate>[0]['model'];
type Answer = Awaited<ReturnType<Generate>>;

/**
 * A middleware of `wrapLanguageModel` that records every answer of the model in the oracle log. A
 * run that is repeated asks the model nothing that it has answered. The same question several times
 * in one run has one answer for each time.
 *
 * An answer is recorded before a tool call of it reaches the SDK. Its headers, and the bodies of
 * requests and responses, are not recorded. An answer that fails is not recorded.
 *
 * @throws ArgumentError `bad_argument`; in a question: CallError `not_json`, `conflict`;
 * OracleError, such as `oracle_miss` in a replay; the error of the model
 */
export function recordedModel(
  oracle: Oracle,
  options: RecordedModelOptions,
): LanguageModelMiddleware {
  checkArgument(ORACLE, oracle, 'oracle');
  checkArgument(OPTIONS, options, 'options');
  const questions = new Questions(options);
  const wrapGenerate: Generate = async ({ doGenerate, params, model }) => {
    const { asked, failed } = questions.next('generate', params, model);
    try {
      const answer = await oracle.ask({
        ...asked,
        call: async () => dataOf(answered(await doGenerate()), model),
      });
      return ofPlain(answer) as Answer;
    } catch (error) {
      failed();
      throw error;
    }
  };
  const wrapStream: Stream = async ({ doStream, params, model }) => {
    const { asked, failed } = questions.next('stream', params, model);
    const stream = await recordedStream({
      ask: async () => (await doStream()).stream as ModelStream,
      record: (parts) => oracle.ask({ ...asked, call: async () => dataOf(await parts(), model) }),
      failed,
      model: nameOf(model),
    });
    return { stream } as Awaited<ReturnType<Stream>>;
  };
  return { specificationVersion: 'v4', wrapGenerate, wrapStream };
}

const ORACLE = arg.members({ ask: arg.code, consult: arg.code });
const OPTIONS = arg.options<RecordedModelOptions>({
  run: arg.text,
  trajectory: arg.optional(arg.text),
  agent: arg.optional(arg.text),
});

interface Asked {
  readonly scope: CallScope;
  readonly request: Json;
  readonly theta: {
    readonly model_version: string;
    readonly temperature?: number;
    readonly seed?: number;
  };
}

/** The questions of a run, with the answers to each by their number. */
class Questions {
  readonly #options: RecordedModelOptions;
  readonly #taken: Map<string, Set<number>> = new Map();

  constructor(options: RecordedModelOptions) {
    this.#options = options;
  }

  /** The next answer to a question. One that has failed is asked for again. */
  next(
    kind: string,
    params: Params,
    model: Model,
  ): { readonly asked: Asked; readonly failed: () => void } {
    const { run, trajectory = 'calls', agent = 'agent' } = this.#options;
    const { abortSignal: _signal, headers: _headers, ...said } = params;
    const request = dataOf({ ask: 'model', sdk: 'ai', kind, run, ...said }, model);
    const key = JSON.stringify([nameOf(model), request]);
    const taken = this.#taken.get(key) ?? new Set();
    let ordinal = 0;
    while (taken.has(ordinal)) ordinal++;
    this.#taken.set(key, taken.add(ordinal));
    const { temperature, seed } = said;
    const asked: Asked = {
      scope: { kind: 'call', trajectory, branch: null, agent, ordinal },
      request,
      theta: {
        model_version: nameOf(model),
        ...(temperature !== undefined && { temperature }),
        ...(seed !== undefined && { seed }),
      },
    };
    return { asked, failed: () => void taken.delete(ordinal) };
  }
}

function nameOf({ provider, modelId }: Model): string {
  return `${provider}:${modelId}`;
}

/** The part of an answer that is recorded. */
function answered({ request: _request, response, ...answer }: Answer): object {
  const { headers: _headers, body: _body, ...kept } = response ?? {};
  return { ...answer, ...(response !== undefined && { response: kept }) };
}

function dataOf(value: unknown, of: Model): Json {
  const plain = toPlain(present(value));
  if (plain !== undefined) return plain;
  const model = nameOf(of);
  throw new CallError(
    'not_json',
    `A question to ${model}, or its answer, is not data that the log can keep. Leave out functions and objects of a class.`,
    {
      evidence: { model },
    },
  );
}
