import type { Call, Case, Exempt } from './case.ts';

/** A function with its valid arguments, new for each try. */
export function takes(
  call: Call['call'],
  args: (() => readonly unknown[]) | readonly unknown[],
  trusted: Case['trusted'] = {},
): Case {
  return { make: () => ({ call, args: typeof args === 'function' ? args() : args }), trusted };
}

export function exempt(why: string): Exempt {
  return { exempt: why };
}

/** Why an argument is not tried. */
export const MADE = 'made by another function of this floor; that refused what was wrong with it';
export const PORT = 'a port that the caller implements: nothing here can check its code';
export const PATH = 'a place in the file system: that answers with its own error';
