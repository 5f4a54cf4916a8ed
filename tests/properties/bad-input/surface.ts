import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import domains from '../../../examples/package.json' with { type: 'json' };
import labs from '../../../labs/package.json' with { type: 'json' };
import manifest from '../../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../../..');

/**
 * Rooms and workspaces that share a table, by its name. A command line is not a function of a
 * program, and neither is test support.
 */
const WORKSPACES: Readonly<Record<string, readonly string[]>> = {
  architectures: entries('labs', labs.exports).filter((file) =>
    file.endsWith('/architectures/index.ts'),
  ),
  audit: ['#blast', '#bundle', '#checkpoints', '#replay'],
  domains: entries('examples', domains.exports),
  ontology: entries('labs', labs.exports).filter((file) => file.includes('/ontology/')),
  experiments: entries('labs', labs.exports).filter((file) => file.includes('/experiments/')),
};

function entries(workspace: string, exported: Readonly<Record<string, string>>): string[] {
  return Object.values(exported)
    .filter((path) => !/\.ttl$|\/cli\/|\/testing\//.test(path))
    .map((path) => join(root, workspace, path));
}

/**
 * The specifiers that import a layer: its `#` names, each folder of a pattern, and the subpaths of
 * its workspace.
 */
function specifiersOf(floor: string): string[] {
  const own = Object.entries(manifest.imports).filter(
    ([name]) => name.slice(1).split('/')[0] === floor,
  );
  const named = own.flatMap(([name, path]) => {
    const [before = '', after = ''] = path.split('*');
    const files = name.includes('*') ? globSync(path, { cwd: root }) : [];
    return name.includes('*')
      ? files.map((file) => name.replace('*', `./${file}`.slice(before.length, -after.length)))
      : [name];
  });
  return [...named, ...(WORKSPACES[floor] ?? [])];
}

/**
 * The exports of a layer that can be called, and that an entry of a package names: functions,
 * classes as `new Name`, methods as `Name.method`. Other layers call the rest with values that
 * these have checked.
 */
export async function publicNames(floor: string): Promise<string[]> {
  const exported: [name: string, value: unknown][] = [];
  for (const specifier of specifiersOf(floor)) {
    const isEntry = entryFiles.has(specifier) || entryFiles.has(join(root, fileOf(specifier)));
    const named = Object.entries(await import(specifier));
    exported.push(...named.filter(([name]) => isEntry || names.has(name)));
  }
  const values = new Set(exported.map(([, value]) => value));
  return [...new Set(exported.flatMap(([name, value]) => callsOf(name, value, values)))];
}

function fileOf(specifier: string): string {
  return (manifest.imports as Readonly<Record<string, string>>)[specifier] ?? specifier;
}

/** The files of the entries of all packages and workspaces. */
const entryFiles: ReadonlySet<string> = new Set([
  ...Object.values(WORKSPACES)
    .flat()
    .filter((name) => !name.startsWith('#')),
  ...globSync('packages/*/package.json', { cwd: root }).flatMap((file) => {
    const { exports } = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
      exports: Record<string, string>;
    };
    const paths = Object.entries(exports).filter(
      ([path, to]) => !path.includes('/internal') && to.endsWith('.ts'),
    );
    const folder = join(root, dirname(file));
    return paths.flatMap(([, to]) =>
      globSync(to, { cwd: folder }).map((found) => join(folder, found)),
    );
  }),
]);

const COMMENT = /\/\*.*?\*\/|\/\/.*$/gms;

/**
 * All names in the entries of packages, types too: a caller gets instances of a class that is only
 * a type.
 */
const names: ReadonlySet<string> = new Set(
  [...entryFiles]
    .filter((entry) => entry.startsWith(join(root, 'packages')))
    .flatMap((entry) => readFileSync(entry, 'utf8').replaceAll(COMMENT, '').match(/\w+/g) ?? []),
);

/** The function itself, or the class and its methods. */
export function callsOf(
  name: string,
  value: unknown,
  exported: ReadonlySet<unknown> = new Set(),
): string[] {
  if (typeof value !== 'function') return [];
  if (!Function.prototype.toString.call(value).startsWith('class')) return [name];
  if (value.prototype instanceof Error) return [];
  return [
    `new ${name}`,
    ...membersOf(value.prototype, exported).map((member) => `${name}.${member}`),
  ];
}

/** With those of classes below it that are not exported themselves. */
function membersOf(prototype: object, exported: ReadonlySet<unknown>): string[] {
  const own = Object.getOwnPropertyNames(prototype).filter((member) => member !== 'constructor');
  const below: object = Object.getPrototypeOf(prototype);
  return below === Object.prototype || exported.has(below.constructor)
    ? own
    : [...own, ...membersOf(below, exported)];
}
