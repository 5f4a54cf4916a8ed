import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cloneFolder, isInstalled } from '@assize/command';
import { ConsoleFiles } from '@assize/server/internal';

const run = promisify(execFile);
const ownFolder = dirname(module.findPackageJSON(import.meta.url)!);

const DOCS = '@assize/docs/package.json';

/** The sources of the console and of its tools, in a clone. */
const SOURCES = [
  'console/*.{html,json,ts}',
  'console/{src,verify}/**',
  'scripts/{build-console,verifier-page}.ts',
  'package-lock.json',
];

/** The built console. Undefined in a clone without the tools that build it. */
export async function builtConsole(): Promise<ConsoleFiles | undefined> {
  const folder = await consoleFolder();
  return folder === undefined ? undefined : ConsoleFiles.read(folder);
}

/**
 * The verifiers that proof bundles contain: the program in Python, and the page of the built
 * console, if it has one.
 */
export async function bundleVerifiers(): Promise<{
  readonly script?: string;
  readonly page?: string;
}> {
  const folder = await consoleFolder();
  const page = folder === undefined ? undefined : textIn(join(folder, 'verify.html'));
  const script = textIn(join(cloneFolder() ?? ownFolder, 'verifiers/python/verify.py'));
  return { ...(script !== undefined && { script }), ...(page !== undefined && { page }) };
}

/**
 * The folder of the built documentation: that of @assize/docs where it is installed, and in a clone
 * what `npm run docs` wrote. Undefined if there is none.
 */
export function builtDocs(): string | undefined {
  const root = cloneFolder();
  const folder =
    root !== undefined
      ? join(root, 'docs/.vitepress/dist')
      : isInstalled(DOCS)
        ? dirname(fileURLToPath(import.meta.resolve(DOCS)))
        : undefined;
  return folder !== undefined && existsSync(folder) ? folder : undefined;
}

function textIn(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/**
 * The folder of the built console. The package has one. A clone builds it once for each state of
 * its sources. Undefined if the tools for that are not installed.
 *
 * @throws the errors of the build
 */
async function consoleFolder(): Promise<string | undefined> {
  const root = cloneFolder();
  if (root === undefined)
    return dirname(fileURLToPath(import.meta.resolve('@assize/console/package.json')));
  const builder = join(root, 'scripts/build-console.ts');
  if (!isInstalled('vite')) return undefined;
  const folder = join(root, 'node_modules/.cache/assize-console', digestOf(root));
  if (!existsSync(folder)) await build(builder, folder);
  return folder;
}

/** Builds into a folder of its own first, so that another process sees all of it or nothing. */
async function build(builder: string, folder: string): Promise<void> {
  const parent = dirname(folder);
  mkdirSync(parent, { recursive: true });
  const building = mkdtempSync(join(parent, 'building-'));
  try {
    await run(process.execPath, [builder, building]);
    renameSync(building, folder);
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function digestOf(root: string): string {
  const hash = createHash('sha256');
  for (const name of consoleSources(root))
    hash.update(`${name}\0`).update(readFileSync(name)).update('\0');
  return hash.digest('hex').slice(0, 16);
}

/** The paths of the sources of the console, its verifier of bundles included. */
export function consoleSources(root: string): string[] {
  return SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root, withFileTypes: true }))
    .filter((found) => found.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}
