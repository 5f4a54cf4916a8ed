import type { Call, Case, Exempt } from './case.ts';

/** A function with its valid arguments, made anew for each try. */
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
export const MADE = 'made by another function of this floor, which refused what was wrong with it';
export const PORT = 'a port that the caller implements: its code, which nothing here can check';
export const PATH = 'a place in the file system, which answers with its own error';
