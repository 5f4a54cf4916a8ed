import { arg, checkArgument, type Json } from 'assize/internal/base';
import { copyJson, WORLD_LIMITS } from 'assize/internal/canon';
import { type Domain, requireOwnDomain } from 'assize/internal/kernel';
import type { Agent, AgentOracle, Decision } from '#agents';
import { type ActionTools, actionTools } from './action-tools.ts';
import type { ChatAnswer, ChatMessage, ChatModel, ChatRequest } from './chat-model.ts';
import { badOption, ModelError } from './errors.ts';
import { type AnswerFault, readDecision } from './read-decision.ts';
import { correctionPrompt, type TurnView, turnPrompt } from './turn-prompt.ts';

export interface ModelAgentOptions extends Pick<Agent, 'name' | 'role' | 'writ'> {
  readonly model: ChatModel;
  /** The domain of the trajectory: its actions become tools. */
  readonly domain: Domain;
  /** The system prompt: the task of the agent. */
  readonly instructions: string;
  /** The actions that the model may propose. Default: all actions of the role. */
  readonly actions?: readonly string[];
  /** The text of a turn, a pure function. Default: `turnPrompt`. */
  readonly prompt?: (view: TurnView) => string;
  /** Maximum number of questions for one decision, if answers have none: 1 to 10. Default: 3. */
  readonly attempts?: number;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Ends a question in progress. The decision then ends with the reason of the signal. */
  readonly signal?: AbortSignal;
}

const ATTEMPTS = 3;
const ATTEMPTS_MAX = 10;

const OPTIONS = arg.options<ModelAgentOptions>({
  name: arg.text,
  role: arg.members({ name: arg.text, params: arg.object }),
  writ: arg.any,
  model: arg.members({ id: arg.text, ask: arg.code }),
  domain: arg.members({ actions: arg.object, roles: arg.object }),
  instructions: arg.text,
  actions: arg.optional(arg.list(arg.text)),
  prompt: arg.optional(arg.code),
  attempts: arg.any,
  temperature: arg.optional(arg.number),
  maxTokens: arg.optional(arg.wholeFrom(1)),
  signal: arg.optional(arg.object),
});

/**
 * An agent that a model decides for, for `runAgents`. In each turn the model gets the slice, the
 * ruling on the last proposal as data, and one tool for each action. Its call becomes the proposal.
 *
 * The oracle log records each answer, so a replay asks no model. An answer without a decision is
 * recorded, and the model is asked again with the fault. After the last attempt the error ends the
 * run, that answer is not recorded, and the next run asks again.
 *
 * @throws ModelError `bad_argument`; KernelError, DuplicatePackageError for a foreign domain;
 * ArgumentError `bad_argument`
 */
export function modelAgent(options: ModelAgentOptions): Agent {
  checkArgument(OPTIONS, options, 'options');
  requireOwnDomain(options.domain);
  const { name, role, writ, domain, actions, attempts = ATTEMPTS } = options;
  if (!Number.isSafeInteger(attempts) || attempts < 1 || attempts > ATTEMPTS_MAX)
    throw badOption('attempts', `pass a whole number from 1 to ${ATTEMPTS_MAX}`);
  const tools = actionTools(domain, role.name, actions);
  const decide = (slice: unknown, oracle: AgentOracle): Promise<Decision> =>
    new ModelTurn({ ...options, attempts }, tools, oracle).decide(slice);
  return Object.freeze({ name, role, writ, decide });
}

class ModelTurn {
  readonly #options: ModelAgentOptions & { readonly attempts: number };
  readonly #tools: ActionTools;
  readonly #oracle: AgentOracle;

  constructor(
    options: ModelAgentOptions & { readonly attempts: number },
    tools: ActionTools,
    oracle: AgentOracle,
  ) {
    this.#options = options;
    this.#tools = tools;
    this.#oracle = oracle;
  }

  async decide(slice: unknown): Promise<Decision> {
    const { prompt = turnPrompt, attempts } = this.#options;
    const messages: ChatMessage[] = [{ from: 'user', text: prompt(await this.#view(slice)) }];
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#ask(messages, attempt === attempts);
      const read = readDecision(answer, this.#tools);
      if (!isFault(read)) return read;
      messages.push(
        { from: 'model', text: textOf(answer) },
        { from: 'user', text: correctionPrompt(read.detail) },
      );
    }
  }

  async #view(slice: unknown): Promise<TurnView> {
    const { role } = this.#options;
    const ruling = await this.#oracle.ruling();
    const calls = ruling?.ruling === 'committed' ? await this.#oracle.calls() : [];
    return { role, state: copyJson(slice, WORLD_LIMITS), ruling, calls };
  }

  /** An answer is recorded if it has a decision, or if the model is asked again after it. */
  async #ask(messages: readonly ChatMessage[], isLast: boolean): Promise<ChatAnswer> {
    const {
      model,
      domain,
      role,
      actions = null,
      instructions: system,
      temperature,
      maxTokens,
      signal,
    } = this.#options;
    const settings = {
      ...(temperature !== undefined && { temperature }),
      ...(maxTokens !== undefined && { maxTokens }),
    };
    const said = { system, messages: [...messages], ...settings };
    const request: ChatRequest = { ...said, tools: this.#tools.tools };
    const call = async (): Promise<Json> => {
      const answer = await model.ask(request, signal);
      const read = readDecision(answer, this.#tools);
      if (isFault(read) && (isLast || FINAL.has(read.fault))) throw errorOf(read, this.#options);
      return answer as unknown as Json;
    };
    const asking = {
      name: 'model',
      // Another version of zod can write the schemas of the tools otherwise. The hash stays.
      request: {
        ask: 'model',
        domain: domain.hash,
        role: role.name,
        actions,
        ...said,
      } as unknown as Json,
      theta: { model_version: model.id, ...(temperature !== undefined && { temperature }) },
      call,
    };
    return (await this.#oracle.ask(asking)) as unknown as ChatAnswer;
  }
}

/** Another attempt with the same prompt would end in the same way. */
const FINAL: ReadonlySet<string> = new Set(['token_limit', 'content_filtered']);

function isFault(read: Decision | AnswerFault): read is AnswerFault {
  return typeof read === 'object' && 'fault' in read;
}

function errorOf({ fault, detail }: AnswerFault, { name, model }: ModelAgentOptions): ModelError {
  const remedy =
    fault === 'bad_answer'
      ? ' Use another model, or clearer instructions; a new run asks again.'
      : '';
  return new ModelError(
    fault,
    `The model ${model.id} gave ${name} no decision: ${detail}.${remedy}`,
    {
      evidence: { agent: name },
    },
  );
}

/** The model's own answer, as a part of the next question. */
function textOf({ text, calls }: ChatAnswer): string {
  const said = calls.length === 0 ? text : `${text}\n${JSON.stringify(calls)}`.trim();
  return said === '' ? '(no text)' : said;
}
