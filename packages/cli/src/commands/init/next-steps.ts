import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { cloneFolder, installedVersion } from '@assize/command';
import { RULES_STEPS } from './rules-files.ts';

/** The packages that the written files import, and those that test and check them. */
const IMPORTED = ['assize', '@assize/cli', 'zod'];
/** The packages of the command. */
const COMMAND = ['assize', '@assize/cli', '@assize/docs'];
const FOR_WORK = [
  'node',
  'typescript',
  '@types/node',
  'vitest',
  'fast-check',
  '@assize/testing',
  '@assize/docs',
];
/** TypeScript runs without a build on this line of Node. */
const NODE = 'node@24';
/** All packages, as a clone packs them. */
const PACKED = './assize-*.tgz';

/**
 * Commands that lead from the files of a new project to a first ruling. Packages that the folder
 * has already, as every folder in a clone does, are not installed again. `isNew`: whether `init`
 * wrote the file.
 */
export function nextSteps(
  folder: string,
  rules: boolean,
  isNew: (name: string) => boolean,
): readonly string[] {
  const missing = (names: readonly string[]): string[] =>
    names.filter((name) => !has(folder, name));
  const imported = sourcesOf(missing(rules ? COMMAND : IMPORTED));
  const forWork = sourcesOf(missing(FOR_WORK)).filter((source) => !imported.includes(source));
  const enter = folder === '.' ? [] : [`cd ${quoted(folder)}`];
  const install = [
    ...([...imported, ...(rules ? [] : forWork)].includes(PACKED) ? packed(folder) : []),
    ...(imported.length > 0 ? [`npm install ${imported.join(' ')}`] : []),
  ];
  if (rules) return [...enter, ...install, ...RULES_STEPS];
  return [
    ...enter,
    ...(isNew('package.json')
      ? []
      : ['npm pkg set type=module scripts.test="vitest run" scripts.dev="assize serve --dev"']),
    ...install,
    ...(forWork.length > 0 ? [`npm install --save-dev ${forWork.join(' ')}`] : []),
    'npm test',
    'npx assize create expenses',
    `npx assize propose expenses pay --args '{"to":"ada","cents":500}' --as agent:scout`,
    'npx assize log expenses',
    'npm run dev',
  ];
}

/** Whether modules in a folder can import a package. */
function has(folder: string, name: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, 'node_modules', name, 'package.json'))) return true;
    if (dirname(at) === at) return false;
  }
}

/** A clone makes the files of the packages first. */
function packed(folder: string): readonly string[] {
  const path = quoted(pathFrom(folder, cloneFolder()!));
  return [`npm --prefix ${path} run build && npm pack ${path}/dist/*/`];
}

/** The arguments of `npm install`: the packed files of a clone, or packages of this version. */
function sourcesOf(names: readonly string[]): readonly string[] {
  const sourceOf = (name: string): string => {
    if (name === 'node') return NODE;
    if (name !== 'assize' && !name.startsWith('@assize/')) return name;
    return cloneFolder() === undefined ? `${name}@${installedVersion()}` : PACKED;
  };
  return [...new Set(names.map(sourceOf))];
}

function pathFrom(folder: string, to: string): string {
  const path = relative(resolve(folder), to) || '.';
  return path.startsWith('.') ? path : `.${sep}${path}`;
}

function quoted(path: string): string {
  return /^[\w./@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
