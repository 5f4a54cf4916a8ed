import type { EntryRow } from '#ledger';
import { summaryOf } from '#views';
import type { LoggedEntry, LogTail } from './log-tail.ts';

/** Selects the entries of a stream. */
export interface EventFilter {
  readonly trajectory?: string | undefined;
  readonly kind?: string | undefined;
}

/** A comment that keeps idle connections open. */
const KEEP_ALIVE = ': keep-alive\n\n';
const KEEP_ALIVE_MS = 15_000;
/** A reader that is this many entries behind is cut. It continues from its last position. */
const BEHIND_MAX = 10_000;

/**
 * Server-sent events of the log: one for each entry, with its position as the id. `lastId` is the
 * last position that the client has; the stream continues after it. A client that reconnects with
 * its last id misses no entry.
 */
export function eventStream(
  tail: LogTail,
  filter: EventFilter,
  lastId: number | undefined,
  signal: AbortSignal,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let stop = (): void => undefined;
  return new ReadableStream<Uint8Array>({
    start: async (controller) => {
      const queue: LoggedEntry[] = [];
      const done = Promise.withResolvers<void>();
      let arrived = Promise.withResolvers<void>();
      let leave = (): void => undefined;
      const keepAlive = setInterval(() => controller.enqueue(encoder.encode(KEEP_ALIVE)), KEEP_ALIVE_MS);
      keepAlive.unref();
      let hasStopped = false;
      stop = () => {
        hasStopped = true;
        clearInterval(keepAlive);
        leave();
        onEnd();
        signal.removeEventListener('abort', stop);
        done.resolve();
        arrived.resolve();
      };
      signal.addEventListener('abort', stop);
      try {
        const isOver = Symbol('over');
        let position = lastId === undefined ? await tail.size() : lastId + 1;
        controller.enqueue(encoder.encode(`retry: 1000\nevent: ready\nid: ${position - 1}\ndata: {}\n\n`));
        const send = (entries: readonly LoggedEntry[]): void => {
          for (const entry of entries) {
            if (entry.position < position) continue;
            position = entry.position + 1;
            if (matches(entry.row, filter)) controller.enqueue(encoder.encode(eventOf(entry)));
          }
          if ((controller.desiredSize ?? 0) < -BEHIND_MAX) stop();
        };
        for (let page = await tail.read(position); page.length > 0; page = await tail.read(position)) {
          send(page);
          if (signal.aborted || hasStopped) break;
        }
        if (!hasStopped)
          leave = tail.listen((entries) => {
            queue.push(...entries);
            arrived.resolve();
            if (queue.length > BEHIND_MAX) stop();
          }, position);
        for (;;) {
          const ended = await Promise.race([arrived.promise, done.promise.then(() => isOver)]);
          if (ended === isOver || signal.aborted) break;
          arrived = Promise.withResolvers<void>();
          send(queue.splice(0));
        }
        controller.close();
      } finally {
        stop();
      }
    },
    cancel: () => stop(),
  });
}

function matches({ trajectory_id, kind }: EntryRow, filter: EventFilter): boolean {
  return (
    (filter.trajectory === undefined || filter.trajectory === trajectory_id) &&
    (filter.kind === undefined || filter.kind === kind)
  );
}

/** One event. Its name is the kind of the entry, and its data is the summary of the entry. */
function eventOf({ position, row }: LoggedEntry): string {
  const data = JSON.stringify({ trajectory_id: row.trajectory_id, ...summaryOf(row) });
  return `id: ${position}\nevent: ${row.kind}\ndata: ${data}\n\n`;
}
