import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { installedFolder, installedVersion } from '../../files/installed-package.ts';

/** The packages that the written files import, and those that test and check them. */
const IMPORTED = ['assize', 'zod'];
const FOR_WORK = ['node', 'typescript', '@types/node', 'vitest', 'fast-check'];
/** TypeScript runs without a build on this line of Node. */
const NODE = 'node@24';

/**
 * Commands that lead from the files of a new project to a first ruling. Packages that the folder
 * has already, as every folder in a clone does, are not installed again. `isNew`: whether `init`
 * wrote the file.
 */
export function nextSteps(folder: string, isNew: (name: string) => boolean): readonly string[] {
  const missing = (names: readonly string[]): string[] => names.filter((name) => !has(folder, name));
  const imported = missing(IMPORTED);
  const forWork = missing(FOR_WORK).map((name) => (name === 'node' ? NODE : name));
  return [
    ...(folder === '.' ? [] : [`cd ${quoted(folder)}`]),
    ...(isNew('package.json') ? [] : ['npm pkg set type=module scripts.test="vitest run"']),
    ...(imported.includes('assize') ? packed(folder) : []),
    ...(imported.length > 0 ? [`npm install ${imported.map((name) => sourceOf(name, folder)).join(' ')}`] : []),
    ...(forWork.length > 0 ? [`npm install --save-dev ${forWork.join(' ')}`] : []),
    'npm test',
    'npx assize create expenses',
    `npx assize propose expenses pay --role clerk --args '{"to":"ada","cents":500}' --as agent:scout`,
    'npx assize log expenses',
  ];
}

/** Whether modules in a folder can import a package. */
function has(folder: string, name: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, 'node_modules', name, 'package.json'))) return true;
    if (dirname(at) === at) return false;
  }
}

/** A clone makes the file of the package first. */
function packed(folder: string): readonly string[] {
  if (!isClone()) return [];
  const clone = pathFrom(folder, installedFolder());
  return [`npm --prefix ${quoted(clone)} run build && npm pack ${quoted(`${clone}/dist`)}`];
}

/** This copy of the package: the packed file of a clone, or the installed folder. */
function sourceOf(name: string, folder: string): string {
  if (name !== 'assize') return name;
  return isClone() ? `./assize-${installedVersion()}.tgz` : quoted(pathFrom(folder, installedFolder()));
}

/** A clone has the sources, and an installed package the built code. */
function isClone(): boolean {
  return existsSync(join(installedFolder(), 'packages/cli/src/main.ts'));
}

function pathFrom(folder: string, to: string): string {
  const path = relative(resolve(folder), to) || '.';
  return path.startsWith('.') ? path : `.${sep}${path}`;
}

function quoted(path: string): string {
  return /^[\w./@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
