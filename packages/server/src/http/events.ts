import type { IncomingMessage } from 'node:http';
import { READERS, ServerError } from '@assize/command/operation';
import type { Hono } from 'hono';
import { eventStream } from '../events/event-stream.ts';
import type { LogTail } from '../events/log-tail.ts';
import { type AppParts, requireKind, standingOf } from './app.ts';
import { checkOrigin } from './guards.ts';

/** Adds `GET /v1/events`: the entries of the log as server-sent events. */
export function addEvents(app: Hono, parts: AppParts, tail: LogTail): void {
  app.get('/v1/events', async (context) => {
    const request = context.req.raw;
    const caller = await parts.authenticator.callerOf(request);
    requireKind(caller, READERS);
    if (caller.sessionId !== undefined) checkOrigin(request, parts.addresses);
    const { trajectory, kind, last_event_id: given } = context.req.query();
    const from = positionAfter(request.headers.get('last-event-id') ?? given, await tail.size());
    const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage };
    const stream = eventStream(tail, {
      filter: { trajectory, kind },
      from,
      signal: AbortSignal.any([request.signal, parts.stopping]),
      cut: () => incoming?.socket.destroy(),
      onEnd: parts.limiter.openStream(caller.name),
      onFailure: (error) => parts.logger.failure(undefined, error),
      requireStanding: standingOf(parts, request, READERS),
    });
    return new Response(stream, {
      headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
    });
  });
}

/**
 * The position after the last event of a client, or after the log's last entry for a new client.
 *
 * @throws ServerError `invalid_request`
 */
function positionAfter(text: string | undefined, size: number): number {
  if (text === undefined || text === '') return size;
  if (!/^-1$|^\d{1,15}$/.test(text))
    throw new ServerError(
      'invalid_request',
      'Last-Event-ID must be the id of an event of this stream.',
    );
  if (Number(text) < size) return Number(text) + 1;
  throw new ServerError(
    'invalid_request',
    `Last-Event-ID is ${text}, and the log has ${size} entries. It is the id of another log: begin again without it.`,
  );
}
