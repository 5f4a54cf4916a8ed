/** Runs a page in a folder of its own: its files, and its commands. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Block, blocksOf, stepsOf } from './process/guide-files.ts';
import { PACKAGES } from './process/link-packages.ts';

const root = join(import.meta.dirname, '../..');

export interface GuideRun {
  readonly commands: readonly string[];
  /** The lines that the commands print, and those that the page shows. */
  readonly printed: readonly string[];
  readonly shown: readonly string[];
}

export interface GuideOptions {
  /** The packages other than Assize that the programs of the page import. */
  readonly packages: readonly string[];
  /** Packages that are installed elsewhere than in the clone: their folders, by name. */
  readonly apart?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Variables of the commands. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * A project that has installed the built package. The page runs in it, in plain JavaScript, and
   * the project has the packages only for that time.
   */
  readonly project?: string;
}

/** `name` is a page of docs/guide, or a path from the root of the repository. */
export function runGuide(name: string, options: GuideOptions): GuideRun {
  const { packages, apart = {}, timeoutMs = 60_000, env = {}, project } = options;
  const blocks = project === undefined ? blocksOf(name) : inJavaScript(blocksOf(name));
  const here = mkdtempSync(join(project ?? tmpdir(), 'assize-guide-'));
  onTestFinished(() => rmSync(here, { recursive: true }));
  mkdirSync(join(here, 'bin'));
  const command = join(here, 'bin/assize');
  const program =
    project === undefined ? join(root, 'packages/cli/src/main.ts') : installedProgram(project);
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(command, 0o755);
  writeFileSync(join(here, 'package.json'), '{"type":"module"}');
  mkdirSync(join(here, 'node_modules'));
  const modules = join(project ?? here, 'node_modules');
  const linked = Object.fromEntries(
    packages.map((each) => [each, join(root, 'node_modules', each)]),
  );
  const own = project === undefined ? PACKAGES : {};
  for (const [each, folder] of Object.entries({ ...own, ...linked, ...apart })) {
    const link = join(modules, each);
    symlinkSync(folder, link);
    if (project !== undefined) onTestFinished(() => unlinkSync(link));
  }
  for (const { says, code } of blocks) {
    const [, file] = says.split(' ');
    if (file !== undefined) writeFileSync(join(here, file), code);
  }
  const steps = blocks
    .filter(({ says }) => says === 'console')
    .flatMap(({ code }) => stepsOf(code));
  const commands = steps.map(({ command }) => command);
  const path = `${join(here, 'bin')}:${join(process.execPath, '..')}:${process.env['PATH']}`;
  const printed = execFileSync('sh', ['-eu', '-c', commands.join('\n')], {
    cwd: here,
    encoding: 'utf8',
    env: { ...process.env, ...env, PATH: path, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: timeoutMs,
  });
  const shown = steps.flatMap(({ below }) => (below === '' ? [] : below.split('\n')));
  return { commands, printed: printed.trimEnd().split('\n'), shown };
}

/** The blocks with programs in JavaScript, under names that end in .js in commands and imports. */
function inJavaScript(blocks: readonly Block[]): readonly Block[] {
  const files = blocks
    .map(({ says }) => says.split(' ')[1] ?? '')
    .filter((file) => file.endsWith('.ts'));
  const renamed = (text: string): string =>
    files.reduce((all, file) => all.replaceAll(file, file.replace(/ts$/, 'js')), text);
  return blocks.map(({ says, code }) => ({
    says: renamed(says),
    code: renamed(says.endsWith('.ts') ? stripTypeScriptTypes(code) : code),
  }));
}

/** The command of the package, as npm links it into the project. */
function installedProgram(project: string): string {
  const program = join(project, 'node_modules/assize/bin/assize.js');
  if (!existsSync(program)) throw new Error(`${project} has not installed the package.`);
  return program;
}
