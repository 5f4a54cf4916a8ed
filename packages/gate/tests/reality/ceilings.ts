import type { Counts } from './verdicts.ts';

/** The most that is wrong, by rules and family. A figure only goes down. */
export const CEILINGS: Readonly<Record<string, Counts>> = {
  company: {
    fault: { index: 4, later: 6, environment: 15, wrappers: 4, tools: 26 },
    needless: { reads: 63, git: 37, edits: 18, tests: 47, network: 7 },
  },
  first: {
    fault: { index: 4, later: 6, environment: 15, wrappers: 4, tools: 26 },
    needless: { reads: 63, git: 41, edits: 29, tests: 47, network: 4 },
  },
  loose: {
    fault: {
      readers: 6,
      recursion: 10,
      links: 4,
      tilde: 3,
      index: 6,
      history: 4,
      push: 3,
      migrations: 10,
      outside: 1,
      later: 1,
      wrappers: 20,
      tools: 6,
    },
    needless: { reads: 20, git: 21, edits: 4, network: 1 },
  },
};
