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

/**
 * Calls the listener for each new entry of the log. The browser connects again after an
 * interruption, and continues after the last event. Returns whether the stream is connected.
 */
export function useLogEvents(listener: (event: LogEvent) => void): boolean {
  const [isConnected, setConnected] = useState(false);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const source = new EventSource('/v1/events');
    source.addEventListener('ready', () => setConnected(true));
    source.addEventListener('error', () => setConnected(false));
    for (const kind of KINDS)
      source.addEventListener(kind, ({ data, lastEventId }: MessageEvent<string>) =>
        latest.current({ ...JSON.parse(data), kind, position: Number(lastEventId) }),
      );
    return () => source.close();
  }, []);
  return isConnected;
}
