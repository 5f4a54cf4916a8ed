import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  bold,
  CliError,
  EXIT,
  inSession,
  line,
  replaceFile,
  type StorelessOptions,
  unreadable,
  withoutStore,
  writeNew,
} from '@assize/command';
import { CONFIG_FILES } from 'assize/internal/config';
import type { Command } from 'commander';
import { IGNORED, PROJECT_FILES, SHARED_FILES } from './files.ts';
import { nextSteps } from './next-steps.ts';
import { RULES_FILES } from './rules-files.ts';

interface Options extends StorelessOptions {
  readonly rules?: boolean;
}

export function init(program: Command): void {
  const command = program.command('init');
  withoutStore(
    command
      .description('write a project: a config, a domain with its test, and a tool; or only rules')
      .argument('[folder]', 'folder of the project', '.')
      .option('--rules', 'write a config and a rules file for calls of tools, without TypeScript'),
  )
    .addHelpText(
      'after',
      'No file is overwritten. An existing package.json or tsconfig.json is left as it is, and .gitignore gets missing lines.',
    )
    .action(
      inSession(async ({ json, out }, { rules = false }: Options, folder: string) => {
        const files = filesFor(folder, rules);
        const ignore = ignoreFor(folder);
        writeNew(files, false);
        if (ignore !== undefined) replaceFile(join(folder, '.gitignore'), ignore);
        const written = [
          ...files.map(([path]) => path),
          ...(ignore === undefined ? [] : [join(folder, '.gitignore')]),
        ];
        const next = nextSteps(folder, rules, (name) => written.includes(join(folder, name)));
        if (json) out.document({ folder, files: written, next });
        else {
          for (const path of written) out.line(line`${path}`);
          out.line(line``);
          out.line(bold('Next'));
          for (const step of next) out.line(line`  ${step}`);
        }
        return EXIT.ok;
      }),
    );
}

/** The files to write. @throws CliError `usage` if one of the project's own files exists */
function filesFor(folder: string, rules: boolean): (readonly [path: string, text: string])[] {
  const own = Object.entries(rules ? RULES_FILES : PROJECT_FILES).map(
    ([name, text]) => [join(folder, name), text] as const,
  );
  const there = [
    ...CONFIG_FILES.map((name) => join(folder, name)),
    ...own.map(([path]) => path),
  ].filter(existsSync);
  if (there.length > 0)
    throw new CliError(
      'usage',
      `The folder has ${[...new Set(there)].join(', ')} already, and no file is overwritten. Name another folder.`,
    );
  const shared = Object.entries(rules ? {} : SHARED_FILES).map(
    ([name, text]) => [join(folder, name), text] as const,
  );
  return [...own, ...shared.filter(([path]) => !existsSync(path))];
}

/** The new text of `.gitignore`. Undefined if it has every line. @throws CliError */
function ignoreFor(folder: string): string | undefined {
  const path = join(folder, '.gitignore');
  let before: string;
  try {
    before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  } catch (error) {
    throw unreadable('The list of ignored files', error, { path });
  }
  const lines = new Set(before.split(/\r?\n/).map((text) => text.trim()));
  const missing = IGNORED.filter((name) => !lines.has(name));
  if (missing.length === 0) return undefined;
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  return `${before}${gap}${missing.join('\n')}\n`;
}
