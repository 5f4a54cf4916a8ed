import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { arg, checkArgument } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import {
  cosign,
  decideCheckpoint,
  formatNote,
  formatSignatures,
  type KnownLog,
  REQUEST_BYTES_MAX,
  type SignerKey,
} from 'assize/internal/merkle';
import type { WitnessFile } from './record.ts';
import { headFault } from './request.ts';

export interface WitnessOptions {
  /** The logs that the witness follows, with their keys. */
  readonly logs: readonly (KnownLog & { readonly origin: string })[];
  /** A key for cosignatures. */
  readonly signer: SignerKey;
  readonly file: WitnessFile;
  /** Seconds since 1970. */
  readonly now: () => number;
  /** Receives internal errors, for the operator. The client learns only that the request failed. */
  readonly onError?: (error: unknown) => void;
}

const WITNESS_OPTIONS = arg.members({
  logs: arg.list(arg.members({ origin: arg.text, keys: arg.list(arg.object) })),
  signer: arg.members({ name: arg.text, privateKey: arg.text }),
  file: arg.object,
  now: arg.code,
});

/** Maximum time for a request to arrive. */
const REQUEST_MS = 10_000;

/**
 * A witness (c2sp.org/tlog-witness): cosigns only checkpoints that continue the last one of their
 * log. The check of the earlier record and the new record are one step on disk. The answer follows.
 *
 * `POST /add-checkpoint` and `GET /<SHA-256 of the origin>/checkpoint`. The server is not listening
 * yet. A request that two servers could read differently, or that is too long, ends its connection:
 * later bytes on it are ignored.
 *
 * @throws ArgumentError `bad_argument`
 */
export function witnessServer(options: WitnessOptions): Server {
  checkArgument(WITNESS_OPTIONS, options, 'options');
  const logs = new Map(options.logs.map((log) => [log.origin, log]));
  const ended = new WeakSet<Socket>();
  const limits = {
    requestTimeout: REQUEST_MS,
    headersTimeout: REQUEST_MS,
    requireHostHeader: false,
  };
  const server = createServer(limits, (request, response) => {
    if (ended.has(request.socket)) return;
    const fault = headFault(request);
    if (fault !== undefined) {
      ended.add(request.socket);
      sendLast(response, fault.status, fault.says);
      return;
    }
    answer(request, response, options, logs).catch((error: unknown) => {
      options.onError?.(error);
      send(response, 500, 'The witness could not record the checkpoint. Nothing was cosigned.\n');
    });
  });
  return server;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { file, signer, now }: WitnessOptions,
  logs: ReadonlyMap<string, KnownLog>,
): Promise<void> {
  const path = request.url ?? '';
  const monitored = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path)?.[1];
  if (monitored !== undefined && request.method === 'GET') {
    const found = file.notes().find(({ origin }) => hashText(origin) === monitored);
    if (found === undefined) send(response, 404, 'No checkpoint of that log was cosigned.\n');
    else send(response, 200, found.note);
    return;
  }
  if (path !== '/add-checkpoint')
    return send(response, 404, 'This server has only add-checkpoint.\n');
  if (request.method !== 'POST') {
    response.setHeader('allow', 'POST');
    return send(response, 405, 'Send the checkpoint with POST.\n');
  }
  const body = await bodyOf(request);
  if (body === undefined) return sendLast(response, 413, 'The request is too long.\n');
  const time = now();
  const decision = file.atomically(() => {
    const decided = decideCheckpoint(body, {
      log: (origin) => logs.get(origin),
      recorded: (origin) => file.recorded(origin),
    });
    if (decided.status !== 200) return decided;
    const signature = cosign(decided.text, signer, time);
    const note = formatNote({ text: decided.text, signatures: [...decided.signatures, signature] });
    file.record(decided.origin, decided.record, note);
    return {
      status: 200,
      body: formatSignatures([signature]),
      contentType: 'text/plain; charset=utf-8',
    } as const;
  });
  send(response, decision.status, decision.body, decision.contentType);
}

/** Undefined for a body that is too long. The rest of it is not read. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > REQUEST_BYTES_MAX) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  // Left open after the loop: the answer uses the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > REQUEST_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Closes the connection after the answer. */
function sendLast(response: ServerResponse, status: number, body: string): void {
  response.setHeader('connection', 'close');
  send(response, status, body);
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  type = 'text/plain; charset=utf-8',
): void {
  if (response.headersSent) return;
  response.writeHead(status, {
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  response.end(body);
}
