import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  type Answer,
  type Caller,
  INTERRUPTS,
  isOfKind,
  type Operation,
  ServerError,
} from '@assize/command/operation';
import { isAssizeError, isInstance } from 'assize/internal/base';
import type { PrincipalKind } from 'assize/internal/config';
import { StoreError } from 'assize/internal/stores';
import { type Context, Hono } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Logger } from '../log/logger.ts';
import type { Metrics } from '../log/metrics.ts';
import { openApiDocument } from '../operations/openapi.ts';
import type { Authenticator } from '../principals/authenticator.ts';
import type { Standings } from '../principals/standings.ts';
import { type Problem, problemOf, refusalReason } from '../problems/problem.ts';
import type { DeploymentRoutes } from '../routing/deployment-routes.ts';
import type { Router } from '../routing/router.ts';
import type { ServerService } from '../service.ts';
import { type Addresses, checkHost, checkOrigin, securityHeaders } from './guards.ts';
import { faultPage } from './pages.ts';
import type { Backlog } from './requests/backlog.ts';
import { parseBody, requireProposals } from './requests/body.ts';
import { accountOf, chargedBody } from './requests/charged-body.ts';
import {
  adoptRequestId,
  idempotencyKeyOf,
  isForwarded,
  requestIdOf,
  traceparentFrom,
} from './requests/headers.ts';
import type { Limits } from './requests/limits.ts';
import type { OpenRequests } from './requests/open-requests.ts';
import { checkedParts } from './requests/parts.ts';
import type { RateLimiter } from './requests/rate-limiter.ts';
import { RequestEnd } from './requests/request-end.ts';

/** The parts of the HTTP surface. */
export interface AppParts {
  readonly service: ServerService;
  readonly operations: readonly Operation<ServerService>[];
  readonly authenticator: Authenticator;
  readonly standings: Standings;
  readonly limiter: RateLimiter;
  readonly backlog: Backlog;
  readonly limits: Limits;
  /** The time limit of a request, without its wait. */
  readonly requestMs: number;
  readonly addresses: Addresses;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Ends when the server begins to stop. */
  readonly stopping: AbortSignal;
  readonly open: OpenRequests;
  /** Absent: no request is forwarded. */
  readonly router?: Router | undefined;
  /** Absent: the store is a deployment of its own. */
  readonly elsewhere?: DeploymentRoutes | undefined;
  /** Adds the routes that are not operations: sign-in, events, pages. */
  readonly more?: (app: Hono, parts: AppParts) => void;
}

/** The paths that answer nothing but the health, to any host name. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** The addresses of a sign-in. A browser shows what they answer. */
const SIGN_IN = /^\/(?:sign-in(?:\/|$)|v1\/session$)/;

/** Longest wait of `Prefer: wait=N`. */
const WAIT_SECONDS_MAX = 300;
const REQUEST_ID = 'x-request-id';
const SECURITY_HEADERS = securityHeaders();

/** Smaller answers fit in few packets. */
const COMPRESSED_MIN = 4_096;
const compressed = promisify(gzip);

const NOTHING = (): void => undefined;
const NO_BYTES = new Uint8Array();
/** A signal that does not end. */
const NEVER = new AbortController().signal;

/** The answers that already have the headers of every answer. */
const complete = new WeakSet<Response>();

/** Requests of the server to itself that end started work. They are answered to the end. */
export const ownRequests: WeakSet<Request> = new WeakSet();

/** The application: every operation of the table as a route. */
export function createApp(parts: AppParts): Hono {
  const app = new Hono();
  const { operations, addresses, stopping, service, metrics } = parts;
  app.use(async (context, next) => {
    const forwardedId = (parts.router ?? parts.elsewhere)?.forwardedId(context.req.raw);
    if (forwardedId !== undefined) adoptRequestId(context.req.raw, forwardedId);
    const requestId = requestIdOf(context.req.raw);
    const startedAt = performance.now();
    await next();
    if (!complete.has(context.res)) completeHeaders(context.res.headers, requestId);
    const ms = performance.now() - startedAt;
    const principal = context.get('caller' as never) as string | undefined;
    const reason = context.get('reason' as never) as string | undefined;
    parts.logger.request({
      requestId,
      method: context.req.method,
      route: routeOf(context),
      status: context.res.status,
      ms,
      ...(principal !== undefined && { principal }),
      ...(reason !== undefined && { reason }),
    });
    metrics.request(routeOf(context), context.res.status, ms);
  });
  app.use(async (context, next) => {
    // An orchestrator asks for the health by the address of the process.
    if (!PROBES.has(context.req.path)) checkHost(context.req.header('host'), addresses);
    if (stopping.aborted && !ownRequests.has(context.req.raw)) throw stopped();
    await next();
  });
  app.onError(async (error, context) => {
    const explained = service.deployment?.explained(error) ?? error;
    context.set('reason' as never, refusalReason(explained) as never);
    const answer = answerProblem(explained, context.req.raw, parts);
    const isShown =
      SIGN_IN.test(context.req.path) &&
      context.req.header('accept')?.includes('text/html') === true;
    return isShown ? faultPage((await answer.json()) as Problem, answer) : answer;
  });
  app.notFound((context) => answerProblem(unknownOperation(), context.req.raw, parts));
  app.get('/healthz', (context) => {
    service.store.requireInPlace?.();
    return context.json({ status: 'ok', server: 'assize' });
  });
  app.get('/readyz', async (context) => {
    service.store.requireInPlace?.();
    service.store.requireSpace?.();
    await service.store.trajectories();
    await service.assize.requireClock();
    service.deployment?.requireReady();
    return context.json({ status: 'ready' });
  });
  app.get('/metrics', async (context) => {
    requireKind(await parts.authenticator.callerOf(context.req.raw), ['auditor', 'admin']);
    return context.text(metrics.text());
  });
  // Most servers are never asked for it, and it takes longer than the rest of their start.
  let document = '';
  app.get('/openapi.json', (context) => {
    document ||= JSON.stringify(openApiDocument(operations, parts.addresses.origin));
    return context.body(document, 200, { 'content-type': 'application/json' });
  });
  for (const one of operations)
    app.on(one.method.toUpperCase(), one.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (context) => {
      context.set('operation' as never, one as never);
      return runOperation(one, context.req.raw, context.req.param(), parts, (caller) =>
        context.set('caller' as never, caller.name as never),
      );
    });
  parts.more?.(app, parts);
  return app;
}

async function runOperation(
  one: Operation<ServerService>,
  request: Request,
  path: Readonly<Record<string, string>>,
  parts: AppParts,
  known: (caller: Caller) => void,
): Promise<Response> {
  const caller = await parts.authenticator.callerOf(request);
  known(caller);
  if (caller.sessionId !== undefined) checkOrigin(request, parts.addresses);
  const requireStanding = standingOf(parts, request, one.kinds);
  // The server that forwarded a request has counted it.
  const leave = isForwarded(request) ? NOTHING : parts.limiter.enter(accountOf(caller));
  const waitSeconds = waitOf(request);
  const limitMs = parts.requestMs + waitSeconds * 1_000;
  let ending: RequestEnd | undefined;
  let isAnswered = false;
  const work = answerOf(one, { request, path, caller, waitSeconds, requireStanding }, parts, () => {
    ending ??= new RequestEnd(request.signal, parts.stopping, limitMs);
    return ending.signal;
  });
  // A request without an answer in time counts until its work ends, and a stream until it ends.
  work.then(
    (answer) => {
      if (!('lines' in answer) || answer.lines === undefined || isAnswered) leave();
    },
    (error: unknown) => {
      leave();
      if (isAnswered && !isAssizeError(error)) parts.logger.failure(requestIdOf(request), error);
    },
  );
  try {
    return answered(await parts.open.run(work, limitMs), request, requireStanding, leave);
  } finally {
    isAnswered = true;
    ending?.release();
  }
}

interface Given {
  readonly request: Request;
  readonly path: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly waitSeconds: number;
  readonly requireStanding: () => Promise<void>;
}

/** Checks the request, and runs its operation or forwards it to the server that is to run it. */
async function answerOf(
  one: Operation<ServerService>,
  { request, path, caller, waitSeconds, requireStanding }: Given,
  {
    service,
    limits,
    limiter,
    backlog,
    addresses,
    router,
    elsewhere,
    requestMs,
    stopping,
  }: AppParts,
  signalOf: () => AbortSignal,
): Promise<Answer | Response> {
  requireKind(caller, one.kinds);
  const startedAt = performance.now();
  const account = accountOf(caller);
  const read =
    one.body === undefined
      ? undefined
      : await chargedBody(request, caller, { limits, limiter }, one);
  const isRouted = router !== undefined && one.isRouted === true && read !== undefined;
  const { trajectory } = path;
  if (trajectory !== undefined && (isRouted || elsewhere !== undefined) && !stopping.aborted) {
    // A server that stops waits for the requests that it has forwarded.
    const end = new RequestEnd(request.signal, NEVER, requestMs + waitSeconds * 1_000);
    const forwarding = {
      request,
      requestId: requestIdOf(request),
      body: read?.bytes ?? NO_BYTES,
      signal: end.signal,
    };
    try {
      const isSent = isForwarded(request);
      const answered = await elsewhere?.forwarded(trajectory, forwarding, isSent);
      if (answered !== undefined) return answered;
      const forwarded =
        isRouted && !isSent ? await router.forwarded(trajectory, forwarding) : undefined;
      if (forwarded !== undefined) return forwarded;
    } finally {
      end.release();
    }
  }
  const body = read && parseBody(read.bytes, read.bytesMax);
  const given = checkedParts(one, { path, query: queryOf(request.url), body });
  const key = idempotencyKeyOf(request.headers);
  if (one.needsKey === true && key === '')
    throw new ServerError(
      'invalid_request',
      'A proposal needs an idempotency key. Send the header Idempotency-Key, the same again for a repetition.',
    );
  const proposals = one.proposalsOf?.(given.body as never) ?? [];
  if (caller.kinds.includes('agent'))
    requireProposals(proposals, Math.min(limits.bodyBytes, limits.proposalBytes));
  const weight = Math.max(1, proposals.length);
  const isProposal = one.needsKey === true || one.proposalsOf !== undefined;
  const leave = isProposal ? backlog.enter(account, weight) : NOTHING;
  const wantsInterrupts = (request.headers.get('accept') ?? '').includes(INTERRUPTS);
  try {
    if (weight > 1) limiter.charge(account, weight - 1);
    const passed = Math.floor((performance.now() - startedAt) / 1_000);
    return await one.run({
      ...{ ...given, caller, service, key, wantsInterrupts, requireStanding, waits: leave },
      waitSeconds: Math.max(0, waitSeconds - passed),
      ...(isRouted && { attempt: requestIdOf(request).replaceAll('-', '') }),
      origin: addresses.origin,
      traceparent: traceparentFrom(request.headers),
      get signal() {
        return signalOf();
      },
      hasAnswer: (etag) => isNamed(`"${etag}"`, request.headers.get('if-none-match') ?? ''),
    });
  } finally {
    leave();
  }
}

/** `onEnd`: called at the end of a stream. */
async function answered(
  answer: Answer | Response,
  request: Request,
  requireStanding: () => Promise<void>,
  onEnd: () => void,
): Promise<Response> {
  if (isInstance(answer, Response)) return answer;
  const { status = 200, headers = {}, body, bytes, lines, etag } = answer;
  const tag = etag === undefined ? undefined : `"${etag}"`;
  const own = { ...headers, ...(tag !== undefined && { etag: tag }) };
  const all = {
    ...SECURITY_HEADERS,
    'content-type': 'application/json',
    ...own,
    [REQUEST_ID]: requestIdOf(request),
  };
  if (tag !== undefined && isNamed(tag, request.headers.get('if-none-match') ?? ''))
    return new Response(null, {
      status: 304,
      headers: { ...SECURITY_HEADERS, ...own, [REQUEST_ID]: requestIdOf(request) },
    });
  if (lines !== undefined)
    return new Response(streamOf(lines, requireStanding, onEnd), {
      headers: { ...all, 'content-type': 'application/jsonl' },
    });
  if (bytes !== undefined) return new Response(new Uint8Array(bytes), { status, headers: all });
  const text = `${JSON.stringify(body)}\n`;
  // An agent that chooses texts in compressed answers could guess a credential beside them by their
  // length (BREACH). No GET answers with one: tokens are in answers of POST alone.
  const isShort = text.length < COMPRESSED_MIN || request.method !== 'GET';
  if (isShort || !/\bgzip\b/.test(request.headers.get('accept-encoding') ?? ''))
    return completed(text, { status, headers: all });
  // The tag is that of the document, and not of these bytes.
  const weak = tag !== undefined && { etag: `W/${tag}` };
  const coded = { ...all, ...weak, 'content-encoding': 'gzip', vary: 'accept-encoding' };
  return completed(await compressed(text), { status, headers: coded });
}

/**
 * The library writes an answer with plain headers directly. Reading its headers would undo that.
 */
function completed(body: string | Buffer<ArrayBuffer>, init: ResponseInit): Response {
  const response = new Response(body, init);
  complete.add(response);
  return response;
}

function completeHeaders(headers: Headers, requestId: string): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    if (!headers.has(name)) headers.set(name, value);
  headers.set(REQUEST_ID, requestId);
}

/** Whether `If-None-Match` names the tag (RFC 9110, 13.1.2). A weak tag counts as a strong one. */
function isNamed(tag: string, header: string): boolean {
  return header.trim() === '*' || [...header.matchAll(/"[^"]*"/g)].some(([one]) => one === tag);
}

/**
 * The lines, for as long as the caller may read them. A client that leaves cancels the stream
 * and so ends the reading.
 */
function streamOf(
  lines: AsyncIterable<string>,
  requireStanding: () => Promise<void>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const iterator = lines[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await iterator.next();
        await requireStanding();
        if (done !== true) return controller.enqueue(encoder.encode(value));
        onEnd();
        controller.close();
      } catch (error) {
        onEnd();
        await iterator.return?.();
        throw error;
      }
    },
    cancel: async () => {
      onEnd();
      await iterator.return?.();
    },
  });
}

/** The response to an error. Faults of the server and of its store are logged. */
export function answerProblem(
  error: unknown,
  request: Request,
  { logger }: Pick<AppParts, 'logger'>,
): Response {
  const requestId = requestIdOf(request);
  const problem = problemOf(error, requestId);
  if (problem.status === 500 || (problem.status === 503 && isInstance(error, StoreError)))
    logger.failure(requestId, error);
  return new Response(`${JSON.stringify(problem)}\n`, {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', ...headersOf(problem, error) },
  });
}

function headersOf({ status }: Problem, error: unknown): Record<string, string> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  if (status !== 429 && status !== 503) return {};
  const seconds = (error as { readonly evidence?: { readonly retry_after?: unknown } }).evidence
    ?.retry_after;
  return { 'retry-after': String(typeof seconds === 'number' ? seconds : 1) };
}

/** @throws ServerError `forbidden` */
export function requireKind(caller: Caller, kinds: readonly PrincipalKind[]): void {
  if (isOfKind(caller, kinds)) return;
  throw new ServerError(
    'forbidden',
    `${caller.name} may not use this operation. It is for: ${kinds.join(', ')}.`,
    {
      evidence: { principal: caller.name },
    },
  );
}

/**
 * Checks again that the credential of a request names a principal of the kinds. Cheap: answers of
 * the last second count.
 *
 * @throws ServerError `unauthenticated`, `forbidden`
 */
export function standingOf(
  { authenticator, standings }: Pick<AppParts, 'authenticator' | 'standings'>,
  request: Request,
  kinds: readonly PrincipalKind[],
): () => Promise<void> {
  const credential = authenticator.credentialOf(request);
  return async () => requireKind(await standings.callerNow(credential), kinds);
}

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start));
}

/** Seconds of `Prefer: wait=N` (RFC 7240). Another preference is ignored, as the RFC says. */
function waitOf(request: Request): number {
  const [, , seconds] =
    /(?:^|[,;\s])wait\s*=\s*("?)(\d{1,6})\1(?:$|[,;\s])/i.exec(
      request.headers.get('prefer') ?? '',
    ) ?? [];
  return seconds === undefined ? 0 : Math.min(Number(seconds), WAIT_SECONDS_MAX);
}

/** The operation of a request, or the pattern of another route. */
function routeOf(context: Context): string {
  const operation = context.get('operation' as never) as Operation | undefined;
  return (
    operation?.id ??
    matchedRoutes(context).find(({ path }) => !/^\/?\*$/.test(path))?.path ??
    'other'
  );
}

function unknownOperation(): ServerError {
  return new ServerError(
    'unknown_operation',
    'The server has no such operation. See /openapi.json.',
  );
}

/** The error of requests that a stopping server does not answer. */
export function stopped(): ServerError {
  return new ServerError(
    'stopping',
    'The server is stopping. Send the request again, with the same key.',
    {
      retryable: true,
    },
  );
}
