import type { Hono } from 'hono';
import { ServerError } from '../errors.ts';
import { eventStream } from '../events/event-stream.ts';
import type { LogTail } from '../events/log-tail.ts';
import { READERS } from '../operations/operation.ts';
import { type AppParts, requireKind } from './app.ts';
import { checkOrigin } from './guards.ts';

/** Adds `GET /v1/events`: the entries of the log as server-sent events. */
export function addEvents(app: Hono, parts: AppParts, tail: LogTail): void {
  app.get('/v1/events', async (context) => {
    const request = context.req.raw;
    const caller = await parts.authenticator.callerOf(request);
    requireKind(caller, READERS);
    if (caller.sessionId !== undefined) checkOrigin(request, parts.addresses());
    const leave = parts.limiter.openStream(caller.name);
    const { trajectory, kind, last_event_id: given } = context.req.query();
    const lastId = positionOf(request.headers.get('last-event-id') ?? given, leave);
    const ended = AbortSignal.any([request.signal, parts.stopping]);
    ended.addEventListener('abort', leave);
    const stream = eventStream(tail, { trajectory, kind }, lastId, ended, leave);
    return new Response(stream, { headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } });
  });
}

/** @throws ServerError `invalid_request` */
function positionOf(text: string | undefined, leave: () => void): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (/^-1$|^\d{1,15}$/.test(text)) return Number(text);
  leave();
  throw new ServerError('invalid_request', 'Last-Event-ID must be the id of an event of this stream.');
}
