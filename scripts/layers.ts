/**
 * Reading order of the package, and the check that it holds. A folder may import only folders named on its own line;
 * across folders only by a published or `#` name, never by a path.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** What each floor may import, in the order in which to read them. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  canon: [],
  merkle: ['canon'],
  ledger: ['canon', 'merkle'],
  authority: ['canon'],
  kernel: ['canon', 'authority'],
  oracle: ['canon'],
  effects: ['canon', 'ledger', 'authority'],
  memory: ['canon', 'ledger'],
  runtime: ['canon', 'merkle', 'ledger', 'authority', 'kernel', 'oracle', 'effects', 'memory'],
  stores: ['canon', 'merkle', 'ledger', 'oracle', 'memory'],
  extraction: ['canon', 'kernel', 'oracle'],
  agents: ['canon', 'authority', 'ledger', 'kernel', 'oracle', 'runtime', 'stores', 'extraction'],
  witness: ['canon', 'merkle'],
  ontology: ['canon', 'kernel', 'oracle'],
  tools: ['canon', 'authority', 'effects'],
  testing: ['canon', 'merkle', 'ledger', 'oracle', 'kernel', 'authority', 'effects', 'memory', 'runtime', 'stores'],
};

/** Outside the floors: only the published names (`assize/…`) and libraries. */
export const OUTER: readonly string[] = [
  'src/cli',
  'src/tables',
  'src/faults',
  'src/anomalies',
  'src/integrations',
  'domains',
];

/** Of these each folder stands by itself. */
const APART: readonly string[] = ['src/integrations', 'domains'];

/** Floors whose rules are pure: no module of Node. `canon` hashes and signs, `oracle` holds the system's clock and chance. */
const PURE: readonly string[] = ['merkle', 'ledger', 'kernel', 'authority', 'memory', 'extraction', 'ontology'];

/** Libraries that a folder may use. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  kernel: ['zod'],
  effects: ['zod'],
  extraction: ['zod'],
  'stores/postgres': ['pg'],
  'stores/sqlite': ['sqlite-vec'],
  ontology: ['n3', 'zod'],
  testing: ['vitest', 'fast-check', 'zod'],
  tools: ['zod'],
  'tools/browser': ['playwright-core', 'zod'],
  'tools/mail': ['nodemailer/lib/mail-composer', 'nodemailer/lib/smtp-connection', 'zod'],
};

export interface Violation {
  readonly file: string;
  readonly specifier: string;
  readonly why: string;
}

/** Every import of the sources that the layers do not allow. */
export function violations(root: string): Violation[] {
  const files = ['src', 'domains'].flatMap((folder) => sources(join(root, folder)));
  return files.flatMap((file) =>
    specifiers(readFileSync(file, 'utf8')).flatMap((specifier) => {
      const why = judge(root, file, specifier);
      return why === undefined ? [] : [{ file: relative(root, file), specifier, why }];
    }),
  );
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Static and dynamic imports, types included. */
export function specifiers(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const found = code.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"\s]+)['"]/g);
  return [...found].map((match) => match[1] as string);
}

function judge(root: string, file: string, specifier: string): string | undefined {
  const path = relative(root, file);
  const isTest = path.endsWith('.test.ts') || path.includes('/testing/');
  if (path === 'src/index.ts')
    return specifier.startsWith('#') ? undefined : 'the root entry re-exports floors by their # names';
  const outer = OUTER.find((folder) => path.startsWith(`${folder}/`));
  if (outer !== undefined) return judgeOuter(root, file, outer, specifier, isTest);
  const floor = /^src\/([^/]+)\//.exec(path)?.[1] ?? '';
  if (LAYERS[floor] === undefined) return `src/${floor} stands in no layer; add it to scripts/layers.ts`;
  if (specifier.startsWith('.')) {
    const target = relative(root, resolve(dirname(file), specifier));
    return target.startsWith(`src/${floor}/`) || (isTest && /^(tests|src\/testing)\//.test(target))
      ? undefined
      : 'another folder is imported by its # name';
  }
  if (specifier.startsWith('#')) {
    const target = specifier.slice(1);
    const allowed = isTest ? Object.keys(LAYERS) : (LAYERS[floor] as readonly string[]);
    return allowed.includes(target)
      ? undefined
      : `src/${floor} may import ${LAYERS[floor]?.join(', ') || 'no other folder'}`;
  }
  if (isTest) return undefined;
  if (specifier.startsWith('node:')) return PURE.includes(floor) ? `src/${floor} is pure: it does no I/O` : undefined;
  const allowed = Object.entries(LIBRARIES).flatMap(([folder, names]) =>
    path.startsWith(`src/${folder}/`) ? names : [],
  );
  return allowed.includes(specifier)
    ? undefined
    : `src/${floor} depends on no library but ${allowed.join(', ') || 'none'}`;
}

function judgeOuter(root: string, file: string, outer: string, specifier: string, isTest: boolean): string | undefined {
  if (specifier.startsWith('#')) return `${outer} uses only published names (assize/…)`;
  if (!specifier.startsWith('.')) return undefined;
  const target = relative(root, resolve(dirname(file), specifier));
  const depth = outer.split('/').length + (APART.includes(outer) ? 1 : 0);
  const own = relative(root, file).split('/').slice(0, depth).join('/');
  return target.startsWith(`${own}/`) || (isTest && target.startsWith('tests/'))
    ? undefined
    : `${own} uses only published names (assize/…)`;
}
