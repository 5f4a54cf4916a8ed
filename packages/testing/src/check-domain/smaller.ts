/** Maximum number of attempts to find a smaller value. */
const TRIES_MAX = 400;

/** The smallest value that still shows the problem, one step at a time, and the number of steps. */
export function shrink<T>(value: T, shows: (smaller: T) => boolean): { value: T; steps: number } {
  let now = value;
  let steps = 0;
  let tries = 0;
  let next: T | undefined;
  do {
    next = undefined;
    for (const candidate of smaller(now)) {
      if (++tries > TRIES_MAX) return { value: now, steps };
      if (!shows(candidate as T)) continue;
      next = candidate as T;
      steps++;
      break;
    }
    if (next !== undefined) now = next;
  } while (next !== undefined);
  return { value: now, steps };
}

/**
 * Smaller values, the largest reductions first. The caller rejects values that a schema does not
 * accept.
 */
function* smaller(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) yield value.toSpliced(i, 1);
    for (let i = 0; i < value.length; i++)
      for (const item of smaller(value[i])) yield value.with(i, item);
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value);
    for (const [key] of members)
      yield Object.fromEntries(members.filter(([other]) => other !== key));
    for (const [key, member] of members) {
      for (const less of smaller(member))
        yield Object.fromEntries(members.map((m) => (m[0] === key ? [key, less] : m)));
    }
  } else if (typeof value === 'number') {
    for (const less of [0, 1, Math.trunc(value / 2), Math.trunc(value), value - 1]) {
      if (Math.abs(less) < Math.abs(value)) yield less;
    }
  } else if (typeof value === 'string') {
    for (const less of ['', 'a'])
      if (less.length < value.length || (value.length === 1 && less < value)) yield less;
  } else if (value === true) yield false;
}
