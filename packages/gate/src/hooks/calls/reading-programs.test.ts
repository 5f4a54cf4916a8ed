import { expect, test } from 'vitest';
import { READING_PROGRAMS } from '#gateway';
import { programTool } from './shell/program.ts';
import { commandParts } from './shell-command.ts';

/** Programs that look harmless, each with an option that does more than reading. */
const MORE: readonly string[] = [
  ...[
    'arch rm',
    'awk "{ print > FILE }"',
    'base64 -o x',
    'date -s 1',
    'dmesg -c',
    'env rm',
    'file -C',
    'find . -delete',
  ],
  ...[
    'git log --output=x',
    'hostname x',
    'less -o x',
    'man -P rm',
    'more x',
    'rg --pre rm',
    'sdiff -o x',
    'sed -i x',
  ],
  ...[
    'sort -o x',
    'split x',
    'tee x',
    'tree -o x',
    'uniq a b',
    'xargs rm',
    'xxd a b',
    './ls',
    'script x',
    'sh x',
  ],
];

test('a program that can write or run something is no reading program', () => {
  const found = MORE.flatMap((command) =>
    commandParts(command, { cwd: '/repo' })
      .slice(0, 1)
      .map(({ tool }) => tool),
  );
  expect(found).toHaveLength(MORE.length);
  expect(found.filter((tool) => READING_PROGRAMS.has(tool))).toEqual([]);
});

test('each reading program has the name of its part', () => {
  const names = [...READING_PROGRAMS];
  expect(names.map((name) => programTool(name.replace('program:', '')))).toEqual(names);
  expect(names).toEqual(
    expect.arrayContaining(['cat', 'grep', 'ls', 'program:read', 'test', 'wc']),
  );
});
