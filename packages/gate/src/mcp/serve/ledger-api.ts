import { isInstance, isRecord } from 'assize/internal/base';
import type { ApiRequest } from './operation-tool.ts';

/** A request to the API, whose answer can be read in part. The token is the sender's concern. */
export type LedgerAsk = (path: string, init: RequestInit) => Promise<Response>;

type Document = Readonly<Record<string, unknown>>;

/** The answer of the API: its document, or what a reader must know of a refusal. */
export type ApiAnswer =
  | { readonly isRefused: false; readonly document: Document }
  | {
      readonly isRefused: true;
      readonly code: string;
      readonly text: string;
      /** Whether the server may have done what was asked. */
      readonly isDoubtful: boolean;
    };

/** The principal of a token. */
export interface Standing {
  readonly name: string;
  readonly kinds: readonly string[];
}

/** A longer answer is not read: a model cannot use it. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
const ANSWER_MS = 120_000;

/** The HTTP API as one principal. Refusals and a server that is down are answers, never errors. */
export class LedgerApi {
  readonly #ask: LedgerAsk;
  /** The address of the server, and of its console. */
  readonly url: string;
  #standing: Standing | undefined;

  constructor({ ask, url }: { readonly ask: LedgerAsk; readonly url: string }) {
    this.#ask = ask;
    this.url = url;
  }

  /** The principal of the token. A refusal says why it is not known. It is asked for once. */
  async standing(
    signal?: AbortSignal,
  ): Promise<Standing | (ApiAnswer & { readonly isRefused: true })> {
    if (this.#standing !== undefined) return this.#standing;
    const answer = await this.send({ method: 'GET', path: '/v1/me' }, signal);
    if (answer.isRefused) return answer;
    const { name, kinds } = answer.document as unknown as Standing;
    this.#standing = { name, kinds };
    return this.#standing;
  }

  /** @throws the reason of the signal, if the client has left */
  async send({ method, path, body, key }: ApiRequest, signal?: AbortSignal): Promise<ApiAnswer> {
    const late = AbortSignal.timeout(ANSWER_MS);
    try {
      const response = await this.#ask(path, {
        method,
        redirect: 'error',
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
        ...(body !== undefined && {
          headers: {
            'content-type': 'application/json',
            ...(key !== undefined && { 'idempotency-key': key }),
          },
          body: JSON.stringify(body),
        }),
      });
      const text = await textUpTo(response, ANSWER_BYTES_MAX);
      if (text === undefined)
        return refused('too_large', 'The answer is too large. Ask for less of it.');
      return answerOf(response.status, text);
    } catch (error) {
      signal?.throwIfAborted();
      if (late.aborted)
        return refused(
          'no_answer',
          `The server of Assize did not answer in ${ANSWER_MS / 1_000} s.`,
        );
      if (!isInstance(error, Error)) throw error;
      const text = `The server of Assize at ${this.url} does not answer. Start it with \`assize serve\`, and repeat this.`;
      return refused('no_answer', text);
    }
  }

  pageOf(path: string): string {
    return new URL(path, this.url).href;
  }
}

function refused(
  code: string,
  text: string,
  isDoubtful: boolean = true,
): ApiAnswer & { readonly isRefused: true } {
  return { isRefused: true, code, text, isDoubtful };
}

function answerOf(status: number, text: string): ApiAnswer {
  const document = documentOf(text);
  if (document === undefined)
    return refused(
      'no_document',
      `${status}: the answer is not a document of Assize. Check the address of the server.`,
    );
  if (status < 400) return { isRefused: false, document };
  const { code = 'no_problem', detail = `status ${status}` } = document;
  const advice =
    status === 401
      ? ' Make a token with `assize token create`, and start this MCP server with it.'
      : '';
  return refused(String(code), `${String(detail)} (${String(code)})${advice}`, status >= 500);
}

function documentOf(text: string): Document | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return isRecord(read) ? (read as Document) : undefined;
  } catch (error) {
    if (isInstance(error, SyntaxError)) return undefined;
    throw error;
  }
}

/** The text of an answer. Undefined if it is longer. */
async function textUpTo(response: Response, maxBytes: number): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
