import { useEffect, useRef, useState } from 'react';

/** The kinds of entries, which are the names of the events. */
const KINDS = ['root', 'commit', 'rejection', 'pending_approval', 'delegation', 'branch', 'key_change'] as const;

/** A new entry of the log. */
export interface LogEvent {
  readonly kind: (typeof KINDS)[number];
  /** The position in the log. */
  readonly position: number;
  readonly trajectory_id: string;
  readonly [member: string]: unknown;
}

/** The time before a new connection, after the server has refused one. */
const AGAIN_MS = 1_000;

/**
 * Calls the listener for each new entry of the log. After an interruption the stream continues
 * after the last event. Returns whether it is connected.
 */
export function useLogEvents(listener: (event: LogEvent) => void): boolean {
  const [isConnected, setConnected] = useState(false);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    let source: EventSource;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lastId = '';
    const connect = (): void => {
      source = new EventSource(lastId === '' ? '/v1/events' : `/v1/events?last_event_id=${lastId}`);
      source.addEventListener('ready', () => setConnected(true));
      source.addEventListener('error', () => {
        setConnected(false);
        // The browser connects again on its own, but not after a refusal.
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(connect, AGAIN_MS);
      });
      for (const kind of KINDS)
        source.addEventListener(kind, ({ data, lastEventId }: MessageEvent<string>) => {
          lastId = lastEventId;
          latest.current({ ...JSON.parse(data), kind, position: Number(lastEventId) });
        });
    };
    connect();
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, []);
  return isConnected;
}
