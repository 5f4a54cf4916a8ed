import { resolve } from 'node:path';
import type { Transport } from '@modelcontextprotocol/client';
import { loadClient, loadClientStdio } from '../peers.ts';
import { MarkedLines, readingExactly } from './exact-numbers.ts';
import { type QuestionKind, Upstream } from './upstream.ts';

/** An MCP server: a command to start, or the address of a running one. */
export type UpstreamSpec =
  | {
      readonly command: string;
      readonly args?: readonly string[] | undefined;
      /** Beside the few variables of the environment that every server gets. */
      readonly env?: Readonly<Record<string, string>> | undefined;
      /** Default: the folder of this process. */
      readonly cwd?: string | undefined;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> | undefined };

/** The most bytes of one answer over HTTP. Over pipes the SDK has the same limit. */
const ANSWER_BYTES_MAX = 10 * 1024 * 1024;

export function upstreamOf(
  spec: UpstreamSpec,
  options: {
    readonly version: string;
    readonly questions?: readonly QuestionKind[] | undefined;
    readonly onWarning: (text: string) => void;
  },
): Upstream {
  const { version, questions, onWarning } = options;
  return new Upstream({
    transport: () => transportOf(spec),
    folder: 'command' in spec ? resolve(spec.cwd ?? '.') : undefined,
    info: { name: 'assize', version },
    questions,
    onWarning,
  });
}

async function transportOf(spec: UpstreamSpec): Promise<Transport> {
  if ('url' in spec) {
    const { StreamableHTTPClientTransport } = await loadClient();
    const requestInit = { headers: { ...spec.headers }, redirect: 'error' as const };
    return new StreamableHTTPClientTransport(new URL(spec.url), {
      requestInit,
      fetch: limitedFetch,
    });
  }
  const { StdioClientTransport, getDefaultEnvironment } = await loadClientStdio();
  const { command, args = [], env = {}, cwd } = spec;
  const pipes = new StdioClientTransport({
    ...{ command, args: [...args], env: { ...getDefaultEnvironment(), ...env } },
    ...(cwd !== undefined && { cwd }),
  });
  return readingExactly(pipes);
}

/** An answer that does not end is cut off. A stream of events may be long, one event may not. */
export async function limitedFetch(input: string | URL, init?: RequestInit): Promise<Response> {
  const answer = await fetch(input, init);
  if (answer.body === null) return answer;
  const isStream = (answer.headers.get('content-type') ?? '').includes('text/event-stream');
  const bytesWith = isStream ? eventBytes() : allBytes();
  const lines = new MarkedLines(isStream ? 'data:' : '');
  const limited = answer.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        if (bytesWith(chunk) <= ANSWER_BYTES_MAX) controller.enqueue(lines.take(chunk));
        else controller.error(new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`));
      },
      flush: (controller) => controller.enqueue(lines.rest()),
    }),
  );
  return new Response(limited, {
    status: answer.status,
    statusText: answer.statusText,
    headers: answer.headers,
  });
}

function allBytes(): (chunk: Uint8Array) => number {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.byteLength;
    return bytes;
  };
}

/** Counts the bytes since the last empty line. An empty line ends an event. */
function eventBytes(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let isEmptyLine = true;
  let before = 0;
  return (chunk) => {
    for (const byte of chunk) {
      bytes += 1;
      const isEnd = byte === CR || (byte === LF && before !== CR);
      if (isEnd && isEmptyLine) bytes = 0;
      if (byte !== LF || isEnd) isEmptyLine = isEnd;
      before = byte;
    }
    return bytes;
  };
}

const CR = 13;
const LF = 10;
