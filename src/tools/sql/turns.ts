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
 */
export async function turnAt(what: object, isUrgent: boolean): Promise<() => void> {
  const line = lines.get(what) ?? { isTaken: false, urgent: [], others: [] };
  lines.set(what, line);
  if (line.isTaken) await new Promise<void>((resolve) => (isUrgent ? line.urgent : line.others).push(resolve));
  line.isTaken = true;
  return () => {
    const next = line.urgent.shift() ?? line.others.shift();
    if (next === undefined) line.isTaken = false;
    else next();
  };
}
