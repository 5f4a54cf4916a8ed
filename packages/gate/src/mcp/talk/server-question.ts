import type { ClientCapabilities } from '@modelcontextprotocol/server';
import { isAssizeError, type Json } from 'assize/internal/base';
import { gatedCall } from '../call-flow.ts';
import { hasForms } from '../elicitation.ts';
import type { Gateway } from '../gateway.ts';
import { visible, visibleTexts } from '../upstream/definitions.ts';
import type { ServerQuestion } from './conversation.ts';

/** The names of a server's questions in the rules. */
export const QUESTION_TOOLS: Readonly<Record<ServerQuestion['method'], string>> = {
  'elicitation/create': 'elicitation.create',
  'sampling/createMessage': 'sampling.create',
  'roots/list': 'roots.list',
};

/** The most characters of a question. */
const QUESTION_MAX = 65_536;

interface Asking {
  readonly server: string;
  readonly capabilities: ClientCapabilities;
  readonly signal: AbortSignal;
  readonly ask: (question: ServerQuestion) => Promise<unknown>;
}

/**
 * The client's answer to a question of the server, if the rules let the question through. It is
 * judged like a call, and the ledger has only that it was answered.
 *
 * @throws Error with the reason why the client is not asked
 */
export async function questionAnswered(
  gateway: Gateway,
  question: ServerQuestion,
  asking: Asking,
): Promise<object> {
  const { method, params } = question;
  const fault = faultOf(question, asking.capabilities);
  if (fault !== undefined) throw new Error(fault);
  const { _meta: _, ...rest } = params;
  const end = await gatedCall<object>(
    gateway,
    {
      tool: QUESTION_TOOLS[method],
      args: JSON.parse(JSON.stringify(rest)) as Readonly<Record<string, Json>>,
      idempotent: true,
      // A hash of a short answer, such as a PIN, can be guessed.
      recorded: { answered: true },
      make: async () =>
        (await asking.ask({ method, params: shown(rest, asking.server) })) as object,
      isRefusal: () => true,
    },
    { signal: asking.signal, elicits: false },
  ).catch((error: unknown) => {
    throw isAssizeError(error) ? new Error(error.message, { cause: error }) : error;
  });
  if (end.end === 'made') return end.result;
  throw end.end === 'failed'
    ? end.error
    : new Error('text' in end ? end.text : 'the client is not asked');
}

/** Why the client cannot be asked at all. */
function faultOf({ method, params }: ServerQuestion, can: ClientCapabilities): string | undefined {
  if (JSON.stringify(params).length > QUESTION_MAX)
    return `a question has at most ${QUESTION_MAX} characters`;
  if (method === 'elicitation/create' && params['mode'] === 'url')
    return 'only forms are passed on';
  const isAble =
    method === 'roots/list'
      ? can.roots !== undefined
      : method === 'sampling/createMessage'
        ? can.sampling !== undefined
        : hasForms(can);
  return isAble ? undefined : 'the client does not answer such questions';
}

/** A question as a client gets it: it says that it is not one of the gateway. */
function shown(
  params: Readonly<Record<string, unknown>>,
  server: string,
): ServerQuestion['params'] {
  const { message } = params;
  const texts = visibleTexts(params as Json) as Readonly<Record<string, unknown>>;
  return typeof message === 'string'
    ? { ...texts, message: `The server ${server} asks: ${visible(message)}` }
    : texts;
}
