import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A stub for a model and an embedder. It runs on this machine alone, and its answers are fixed in
 * advance.
 */
export interface ModelStub {
  readonly baseURL: string;
  /** The requests that it received, oldest first. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const DIMENSIONS = 8;

/**
 * Serves the two calls of OpenAI's API that memories make. All texts have one vector, so every
 * search finds every text.
 */
export async function modelStub(answer: (prompt: string) => string): Promise<ModelStub> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const say = (status: number, reply: object): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(reply));
    try {
      const body = await bodyOf(request);
      say(
        200,
        request.url?.endsWith('/embeddings') ? embedded(body) : completed(body, asked, answer),
      );
    } catch (error) {
      // Of the caller, so that it is not tried again.
      say(400, { error: { message: error instanceof Error ? error.message : String(error) } });
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    asked,
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<any> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece;
  return JSON.parse(text);
}

function completed(
  { messages }: { readonly messages: readonly { readonly content: unknown }[] },
  asked: string[],
  answer: (prompt: string) => string,
): object {
  const prompt = messages.map(({ content }) => String(content)).join('\n');
  asked.push(prompt);
  const message = { role: 'assistant', content: answer(prompt) };
  return {
    id: 'stub',
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message }],
  };
}

function embedded({
  input,
  encoding_format: form,
}: {
  readonly input: unknown;
  readonly encoding_format?: string;
}): object {
  const vector = [1, ...Array.from({ length: DIMENSIONS - 1 }, () => 0)];
  const embedding =
    form === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector;
  const data = [input].flat().map((_, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', data, usage: { prompt_tokens: 0, total_tokens: 0 } };
}

/** As the options of a memory need it. */
export const STUB_DIMENSIONS: number = DIMENSIONS;
