import { type LogEvent, openStream } from './events.ts';

/** A message between the tabs of one person. */
type Said =
  | { readonly entry: LogEvent }
  | { readonly isConnected: boolean; readonly position: number | undefined }
  /** A new tab asks for the connection. */
  | 'ask';

export interface LogListener {
  readonly onEntry: (event: LogEvent) => void;
  readonly onConnection: (isConnected: boolean) => void;
}

/**
 * Follows the log, with one stream for all tabs of a person: browsers allow few connections to a
 * server. The tab that holds a lock has the stream, and posts its entries to the others. When it
 * closes, another tab gets the lock, and continues after the last entry that it knows. Returns the
 * call that stops following.
 */
export function followLog(person: string, listener: LogListener): () => void {
  const name = `assize-log ${person}`;
  const tabs = new BroadcastChannel(name);
  const leaving = new AbortController();
  let position: number | undefined;
  let isConnected = false;
  const hear = (said: Exclude<Said, 'ask'>): void => {
    if ('entry' in said) {
      position = said.entry.position;
      listener.onEntry(said.entry);
    } else {
      position = said.position;
      isConnected = said.isConnected;
      listener.onConnection(isConnected);
    }
  };
  const tell = (said: Exclude<Said, 'ask'>): void => {
    tabs.postMessage(said satisfies Said);
    hear(said);
  };
  const hold = (): (() => void) => {
    const close = openStream(position, {
      onEntry: (entry) => tell({ entry }),
      onReady: (at) => tell({ isConnected: true, position: at }),
      onBreak: () => tell({ isConnected: false, position }),
    });
    tabs.onmessage = ({ data }: MessageEvent<Said>) => {
      if (data === 'ask') tabs.postMessage({ isConnected, position } satisfies Said);
    };
    return close;
  };
  tabs.onmessage = ({ data }: MessageEvent<Said>) => {
    if (data !== 'ask') hear(data);
  };
  tabs.postMessage('ask' satisfies Said);
  holdInTurn(name, leaving.signal, hold);
  return () => {
    leaving.abort();
    tabs.close();
  };
}

/**
 * Holds the stream from the time when this tab has the lock until it leaves. A page without TLS has
 * no locks, and a stream of its own.
 */
function holdInTurn(name: string, leaving: AbortSignal, hold: () => () => void): void {
  const untilLeft = (): Promise<void> =>
    new Promise((left) => {
      const close = hold();
      leaving.addEventListener('abort', () => {
        close();
        left();
      });
    });
  // The list of locks is absent in pages without TLS, whatever its type says.
  const locks = navigator.locks as LockManager | undefined;
  if (locks === undefined) void untilLeft();
  else
    locks.request(name, { signal: leaving }, untilLeft).catch((error: unknown) => {
      // A tab that leaves before its turn waits no longer.
      if (!leaving.aborted) throw error;
    });
}
