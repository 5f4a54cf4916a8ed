/** Runs a page of docs/guide in a folder of its own: its files, and its commands. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '../..');

export interface GuideRun {
  readonly commands: readonly string[];
  /** The lines that the commands print, and those that the page shows. */
  readonly printed: readonly string[];
  readonly shown: readonly string[];
}

export interface GuideOptions {
  /** The packages that the programs of the page import, besides Assize. */
  readonly packages: readonly string[];
  /** Packages that are installed elsewhere than in the clone: their folders, by name. */
  readonly apart?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

export function runGuide(name: string, { packages, apart = {}, timeoutMs = 60_000 }: GuideOptions): GuideRun {
  const page = readFileSync(join(root, 'docs/guide', name), 'utf8');
  const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => ({ info, text }));
  const here = mkdtempSync(join(tmpdir(), 'assize-guide-'));
  onTestFinished(() => rmSync(here, { recursive: true }));
  mkdirSync(join(here, 'bin'));
  const command = join(here, 'bin/assize');
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'src/cli/main.ts')}" "$@"\n`);
  chmodSync(command, 0o755);
  writeFileSync(join(here, 'package.json'), '{"type":"module"}');
  mkdirSync(join(here, 'node_modules'));
  symlinkSync(root, join(here, 'node_modules/assize'));
  const linked = Object.fromEntries(packages.map((each) => [each, join(root, 'node_modules', each)]));
  for (const [each, folder] of Object.entries({ ...linked, ...apart }))
    symlinkSync(folder, join(here, 'node_modules', each));
  for (const { info, text } of blocks) {
    const [, file] = info.split(' ');
    if (file !== undefined) writeFileSync(join(here, file), text);
  }
  const lines = blocks.filter(({ info }) => info === 'console').flatMap(({ text }) => text.trimEnd().split('\n'));
  const commands = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  const path = `${join(here, 'bin')}:${join(process.execPath, '..')}:${process.env['PATH']}`;
  const printed = execFileSync('sh', ['-eu', '-c', commands.join('\n')], {
    cwd: here,
    encoding: 'utf8',
    env: { ...process.env, PATH: path, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: timeoutMs,
  });
  const shown = lines.filter((line) => !line.startsWith('$ '));
  return { commands, printed: printed.trimEnd().split('\n'), shown };
}
