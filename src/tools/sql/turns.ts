/** Who uses something, and who waits for it. */
interface Line {
  isTaken: boolean;
  readonly urgent: (() => void)[];
  readonly others: (() => void)[];
}

const lines = new WeakMap<object, Line>();

/**
 * Settles when nobody else uses it, with what gives it to the next one. What is `urgent` comes before what is not: it was ruled on, and
 * others may wait for it.
 *
 * @throws the signal's reason, as soon as nobody waits for it any more
 */
export async function turnAt(what: object, isUrgent: boolean, signal: AbortSignal): Promise<() => void> {
  const line = lines.get(what) ?? { isTaken: false, urgent: [], others: [] };
  lines.set(what, line);
  signal.throwIfAborted();
  if (line.isTaken) await inLine(isUrgent ? line.urgent : line.others, signal);
  line.isTaken = true;
  return () => {
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
