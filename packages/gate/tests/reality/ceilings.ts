import type { Counts } from './verdicts.ts';

/** The most that is wrong, by rules and family. A figure only goes down. */
export const CEILINGS: Readonly<Record<string, Counts>> = {
  company: {
    fault: { environment: 3, tools: 6 },
    needless: { reads: 23, git: 2, edits: 17, tests: 47, network: 7 },
  },
  first: {
    fault: { environment: 3, tools: 6 },
    needless: { reads: 23, git: 22, edits: 28, tests: 47, network: 4 },
  },
  loose: {
    fault: {
      readers: 6,
      recursion: 12,
      links: 4,
      tilde: 1,
      index: 6,
      history: 4,
      push: 3,
      migrations: 11,
      outside: 1,
      wrappers: 22,
      tools: 6,
    },
    needless: { reads: 16, git: 15, edits: 4, network: 1 },
  },
};
