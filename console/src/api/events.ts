/** The kinds of entries. They are also the names of the events. */
const KINDS = [
  'root',
  'commit',
  'rejection',
  'pending_approval',
  'delegation',
  'branch',
  'key_change',
] as const;

/** A new entry of the log: its place, and its summary. */
export interface LogEvent {
  readonly kind: (typeof KINDS)[number];
  /** The position in the log. */
  readonly position: number;
  readonly trajectory_id: string;
  readonly seq: number;
  readonly at: string;
  readonly ruling: string;
  readonly action?: string;
  /** The pending proposal that the entry decides. */
  readonly resolves?: string;
  readonly counselor?: string;
  /** The number of changed keys of the memory. */
  readonly beliefs?: number;
  /** The calls that the commit makes. */
  readonly calls?: readonly unknown[];
  readonly id: string;
}

export interface StreamListener {
  readonly onEntry: (event: LogEvent) => void;
  /** With the position of the last entry before the stream. */
  readonly onReady: (position: number) => void;
  readonly onBreak: () => void;
}

/** The longest time between two signs of life. The server sends one every two seconds. */
const SILENT_MS = 4_000;
/** The time before a new connection, after the server has refused one. */
const AGAIN_MS = 1_000;

/**
 * Opens the stream of new entries after a position. After an interruption it continues after the
 * last entry. After a refusal it starts over, because the server may have another log now. Returns
 * the call that closes it.
 */
export function openStream(after: number | undefined, listener: StreamListener): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let isSilent = false;
  let position = after;
  /** A server that hangs keeps its connections open, and says nothing. */
  const heard = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      isSilent = true;
      listener.onBreak();
    }, SILENT_MS);
    if (isSilent && position !== undefined) listener.onReady(position);
    isSilent = false;
  };
  const connect = (from?: number): void => {
    source = new EventSource(
      from === undefined ? '/v1/events' : `/v1/events?last_event_id=${from}`,
    );
    source.addEventListener('ready', ({ lastEventId }) => {
      position = Number(lastEventId);
      heard();
      listener.onReady(position);
    });
    source.addEventListener('alive', heard);
    source.addEventListener('error', () => {
      clearTimeout(silence);
      listener.onBreak();
      // The browser connects again on its own, but not after a refusal.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(connect, AGAIN_MS);
    });
    for (const kind of KINDS)
      source.addEventListener(kind, ({ data, lastEventId }: MessageEvent<string>) => {
        position = Number(lastEventId);
        heard();
        listener.onEntry({ ...JSON.parse(data), kind, position });
      });
  };
  connect(after);
  return () => {
    clearTimeout(timer);
    clearTimeout(silence);
    source.close();
  };
}
