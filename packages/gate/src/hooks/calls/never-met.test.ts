import { expect, test } from 'vitest';
import { readRules } from '#gateway';
import { neverMet } from './never-met.ts';

const problemsOf = (tools: string, where: string): readonly string[] =>
  neverMet(readRules(`id: x\nrules:\n  - { id: a, deny: ${tools}, where: [${where}] }\n`)).map(
    ({ problem }) => problem,
  );

test.each<[string, string, string]>([
  ['shell/rm', '{ path: /flags, any: [-rf] }', 'write --force and --recursive'],
  ['[shell/rm, shell/cp]', '{ path: /flags, all: [-r] }', 'write --recursive'],
  ['shell/git', '{ path: /command, is: push }, { path: /flags, any: [-f] }', 'write --force'],
  ['shell/git', '{ path: /refs, any: [refs/heads/main] }', 'write main'],
  ['shell/git', '{ path: /command, in: [push origin] }', 'write push'],
  ['shell/ls', '{ path: /command, is: all }', 'no call has that there'],
  ['shell/rm', '{ path: /flags, any: [force] }', 'no call has that there'],
])('%s with %s is never met', (tools, where, advice) => {
  expect(problemsOf(tools, where)).toEqual([expect.stringMatching(`${advice}$`)]);
});

test.each<[string, string]>([
  ['shell/rm', '{ path: /flags, any: [--recursive, --force] }'],
  ['shell/find', '{ path: /flags, any: [-delete] }'],
  ['[shell/rm, shell/find]', '{ path: /flags, any: [-delete, --recursive] }'],
  ['shell/git', '{ path: /command, in: [push, stash push] }, { path: /flags, any: [--force] }'],
  ['shell/git', '{ path: /refs, any: [main, refs/tags/*, release/1] }'],
  ['shell/git', '{ path: /command, in: [commit, merge, pull, revert] }'],
  ['shell/npm', '{ path: /command, is: test }'],
  ["'shell/*'", '{ path: /flags, any: [-rf] }'],
  ['shell/rm', '{ path: /argv, is: [-rf] }'],
  ["'*'", '{ path: /command, is: x }'],
])('%s with %s can be met', (tools, where) => expect(problemsOf(tools, where)).toEqual([]));
