/** The examples in the READMEs of the packages. */
import { expect } from 'vitest';
import { type GuideOptions, runGuide } from './run-guide.ts';

/** Programs that import the packages of Assize, and these: the fast suite runs them. */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  agents: ['zod'],
  assize: ['zod'],
  cedar: [],
  engines: [],
  testing: ['zod'],
  tools: ['zod'],
};

/** The page of a package. */
export const readmeOf = (name: string): string => `packages/${name}/README.md`;

/** Runs the example of a package, and compares its output with the README. */
export function expectShown(name: string, options: GuideOptions): void {
  const { commands, printed, shown } = runGuide(readmeOf(name), { timeoutMs: 300_000, ...options });
  expect(commands.length).toBeGreaterThan(0);
  expect(printed).toEqual(shown);
}
