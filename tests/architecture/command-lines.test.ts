/** Every command line of the docs names a command, and options that its help has. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { useFeatures } from '#command';
import { FEATURES } from '../../packages/cli/src/features.ts';
import { ASSIZE, program } from '../../packages/cli/src/program.ts';

const root = join(import.meta.dirname, '../..');
useFeatures(FEATURES);
const assize = await program([], ASSIZE);
/** Lines of code, and code in lines of prose. The end of a line of the shell ends a command too. */
const LINE = /(?:^|[`$(;&|'"]|\s)(?<!create )assize ((?!zod)(?:--)?[a-z][^`\n;|&)>]*)/g;

function faultOf(line: string): string | undefined {
  const words = line.split(/\s+/);
  let command: Command = assize;
  for (;;) {
    const next = command.commands.find((one) => one.name() === words[0]);
    if (next === undefined) break;
    command = next;
    words.shift();
  }
  const [first = ''] = words;
  const takesWords = command.registeredArguments.length > 0 || first === 'help';
  if (command.commands.length > 0 && !takesWords && /^[a-z]/.test(first)) return `no ${first}`;
  const known = [...command.options.map(({ long }) => long), '--help', '--all'];
  // The words after `--` are the line of another program.
  const flags = line.split(' -- ')[0]!.match(/(?<=^|\s)--[a-z][a-z-]*/g) ?? [];
  return flags.find((flag) => !known.includes(flag));
}

test('the docs name only commands and options that there are', () => {
  const found: string[] = [];
  for (const file of globSync(['README.md', 'docs/**/*.md', 'packages/*/README.md'], {
    cwd: root,
    // Written from the same help.
    exclude: ['docs/reference/generated/**'],
  })) {
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/\\\n\s*/g, ' ');
    const code = [...text.matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)].map(([part]) => part);
    for (const part of code)
      for (const [, line = ''] of part.matchAll(LINE)) {
        const fault = faultOf(line.split(/ #|[",.\]…]+(?:\s|$)/)[0]!.trim());
        if (fault !== undefined) found.push(`${file}: assize ${line}: ${fault}`);
      }
  }
  expect(found).toEqual([]);
});
