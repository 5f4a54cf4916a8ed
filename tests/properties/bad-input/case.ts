import { AssizeError } from '#base';
import { someOf } from '../../support/some-of.ts';
import { Hostile, mutantsOf } from './hostile.ts';

/** One public function with arguments that it takes. */
export interface Call {
  readonly call: (...args: any[]) => unknown;
  readonly args: readonly unknown[];
  /** The values that must stay unchanged after a throw: a store, a head, a state, as text. */
  readonly watch?: () => string | Promise<string>;
}

export interface Case {
  /** A call with valid arguments, and nothing of the one before in its hands. */
  readonly make: () => Call | Promise<Call>;
  /**
   * Arguments or fields (`0`, `1.store`) that are the caller's code or the library's own, each with
   * the reason.
   */
  readonly trusted: Readonly<Record<string, string>>;
}

/** Nothing is tried: why not. */
export interface Exempt {
  readonly exempt: string;
}

/** The least that an answer takes from a promise that was never kept; nothing here waits. */
const HANG_MS = 60_000;

/** All that is wrong with one function, a line each. */
export async function wrongsOf(
  name: string,
  { make, trusted }: Case,
  documented: (error: AssizeError) => boolean,
) {
  const wrongs: string[] = [];
  const sound = await make();
  const fault = await outcome(sound, sound.args);
  if (fault !== undefined) wrongs.push(`${name}: valid arguments: ${described(fault.error)}`);
  const isTrusted = (path: string): boolean => trusted[path] !== undefined;
  for (const [i, valid] of sound.args.entries()) {
    // Some of each field.
    for (const mutant of someOf(mutantsOf(valid, String(i), isTrusted), ({ place }) => place)) {
      const { what } = mutant;
      const call = await make();
      const before = await call.watch?.();
      // The mutant uses these arguments and not those above: each call has its own store, with that
      // store's ids.
      const refused = await outcome(call, call.args.with(i, mutant.make(call.args[i])));
      if (refused === undefined) continue;
      const { error } = refused;
      if (!(error instanceof Hostile) && !(error instanceof AssizeError && documented(error)))
        wrongs.push(`${name}: ${what}: ${described(error)}`);
      if ((await call.watch?.()) !== before)
        wrongs.push(`${name}: ${what}: threw, and changed something`);
    }
  }
  return wrongs;
}

/** The thrown error, or undefined if the call returns. */
async function outcome(
  { call }: Call,
  args: readonly unknown[],
): Promise<{ error: unknown } | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error('it hangs')), HANG_MS);
  });
  try {
    await Promise.race([settled(call(...args)), late]);
    return undefined;
  } catch (error) {
    return { error };
  } finally {
    clearTimeout(timer);
  }
}

/** Awaits a promise, and reads a generator to its end. */
async function settled(answer: unknown): Promise<void> {
  const value = await answer;
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return;
  for await (const _ of value as AsyncIterable<unknown>);
}

function described(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${typeof error}`;
  const at = error.stack
    ?.split('\n')
    .find((line) => /\/(packages|domains)\//.test(line))
    ?.replace(/^.*\/((?:packages|domains)\/.*?):\d+\)?$/, '$1');
  const code = error instanceof AssizeError ? ` ${error.code}` : '';
  return `${error.name}${code}: ${error.message.slice(0, 120)} (${at})`;
}
