import type { Counts } from './verdicts.ts';

/**
 * The most that is wrong, by rules and family. A figure only goes down.
 */
export const CEILINGS: Readonly<Record<string, Counts>> = {
  company: {
    fault: {
      recursion: 45,
      links: 2,
      index: 18,
      history: 28,
      stash: 4,
      hosts: 1,
      later: 6,
      'programs-of-the-agent': 2,
      environment: 15,
      wrappers: 8,
      tools: 27,
    },
    needless: { reads: 65, git: 32, edits: 18, tests: 47, network: 7, bookkeeping: 17 },
  },
  first: {
    fault: {
      recursion: 37,
      links: 1,
      index: 17,
      history: 27,
      stash: 4,
      later: 6,
      environment: 15,
      wrappers: 7,
      tools: 27,
    },
    needless: { reads: 63, git: 41, edits: 29, tests: 47, network: 4, bookkeeping: 17 },
  },
  loose: {
    fault: {
      readers: 8,
      recursion: 83,
      links: 11,
      tilde: 3,
      index: 33,
      history: 51,
      stash: 7,
      push: 28,
      migrations: 18,
      outside: 1,
      later: 2,
      'programs-of-the-agent': 1,
      wrappers: 49,
      tools: 9,
    },
    needless: { reads: 18, git: 1, edits: 4, network: 1, bookkeeping: 17 },
  },
};
