/** For whom a turn is. */
export interface Turn {
  /** Of the transaction, as in `Call`. */
  readonly epoch?: number | undefined;
  /** Has it given up soon, as it can be had again later. */
  readonly letGo?: () => void;
}

/** Who uses something, and who waits for it. */
interface Line {
  isTaken: boolean;
  /** Whose it is. */
  turn: Turn | undefined;
  readonly urgent: (() => void)[];
  readonly others: (() => void)[];
}

const lines = new WeakMap<object, Line>();

/**
 * Settles when nobody else uses it, with what gives it to the next one. What is `urgent` comes before what is not: it was ruled on, and
 * others may wait for it. What its own transaction has, and can let go, is let go for it: that would wait for this in turn.
 *
 * @throws the signal's reason, as soon as nobody waits for it any more
 */
export async function turnAt(
  what: object,
  isUrgent: boolean,
  signal: AbortSignal,
  turn: Turn = {},
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
