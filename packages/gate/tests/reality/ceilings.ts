import type { Counts } from './verdicts.ts';

/** The most that is wrong, by rules and family. A figure only goes down. */
export const CEILINGS: Readonly<Record<string, Counts>> = {
  company: {
    fault: {},
    needless: { reads: 3, edits: 4, tests: 40, network: 7 },
  },
  first: {
    fault: {},
    needless: { reads: 3, git: 1, edits: 6, tests: 40, network: 4 },
  },
  loose: {
    fault: {},
    needless: { reads: 2, edits: 1, network: 1 },
  },
};
