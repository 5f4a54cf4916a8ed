/** A request for exclusive use. */
export interface QueueEntry {
  /** The epoch of the transaction, as in `Call`. */
  readonly epoch?: number | undefined;
  /** Releases the resource early, if the holder can get it again later. */
  readonly letGo?: () => void;
}

/** The holder of a resource, and the waiting requests. */
interface WaitQueue {
  isTaken: boolean;
  /** The current holder's request. */
  turn: QueueEntry | undefined;
  readonly urgent: (() => void)[];
  readonly others: (() => void)[];
}

const lines = new WeakMap<object, WaitQueue>();

/**
 * Resolves when the resource is free, with the function that passes it on. An `urgent` request
 * precedes the others: it belongs to adjudicated work, and other requests may wait for it. A
 * releasable hold of the same transaction is released for it, because the two would otherwise wait
 * for each other.
 *
 * @throws the signal's reason, as soon as it aborts
 */
export async function exclusiveAccess(
  what: object,
  isUrgent: boolean,
  signal: AbortSignal,
  turn: QueueEntry = {},
): Promise<() => void> {
  const line = lines.get(what) ?? { isTaken: false, turn: undefined, urgent: [], others: [] };
  lines.set(what, line);
  signal.throwIfAborted();
  if (line.isTaken) {
    const isOwn = turn.epoch !== undefined && line.turn?.epoch === turn.epoch;
    if (isOwn) line.turn?.letGo?.();
    await inLine(isUrgent ? line.urgent : line.others, signal);
  }
  line.isTaken = true;
  line.turn = turn;
  return () => {
    line.turn = undefined;
    const next = line.urgent.shift() ?? line.others.shift();
    if (next === undefined) line.isTaken = false;
    else next();
  };
}

function inLine(line: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const come = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      line.splice(line.indexOf(come), 1);
      reject(signal.reason);
    };
    line.push(come);
    signal.addEventListener('abort', leave, { once: true });
  });
}
