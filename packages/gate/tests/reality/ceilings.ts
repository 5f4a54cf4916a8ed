import type { Counts } from './verdicts.ts';

/** The most that is wrong, by rules and family. A figure only goes down. */
export const CEILINGS: Readonly<Record<string, Counts>> = {
  company: {
    fault: {
      recursion: 44,
      links: 2,
      index: 22,
      history: 34,
      stash: 4,
      migrations: 5,
      later: 8,
      environment: 15,
      wrappers: 7,
      tools: 27,
    },
    needless: { reads: 63, git: 19, edits: 18, tests: 47, network: 7 },
  },
  first: {
    fault: {
      recursion: 36,
      links: 1,
      index: 17,
      history: 28,
      stash: 4,
      later: 6,
      environment: 15,
      wrappers: 7,
      tools: 27,
    },
    needless: { reads: 63, git: 41, edits: 29, tests: 47, network: 4 },
  },
  loose: {
    fault: {
      readers: 8,
      recursion: 78,
      links: 11,
      tilde: 3,
      index: 29,
      history: 43,
      stash: 6,
      push: 3,
      migrations: 17,
      outside: 1,
      later: 2,
      wrappers: 28,
      tools: 9,
    },
    needless: { reads: 16, git: 2, edits: 4, network: 1 },
  },
};
