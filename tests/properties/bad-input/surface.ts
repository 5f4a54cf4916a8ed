import { globSync } from 'node:fs';
import { join } from 'node:path';
import domains from '../../../examples/package.json' with { type: 'json' };
import labs from '../../../labs/package.json' with { type: 'json' };
import manifest from '../../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../../..');

/**
 * Rooms and workspaces that share a table, by its name. A command line is not a function of a
 * program, and neither is test support.
 */
const WORKSPACES: Readonly<Record<string, readonly string[]>> = {
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
  const own = Object.entries(manifest.imports).filter(([name]) => name.slice(1).split('/')[0] === floor);
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
 * The exports of a layer that can be called: functions, classes as `new Name`, methods as
 * `Name.method`.
 */
export async function publicNames(floor: string): Promise<string[]> {
  const exported: [name: string, value: unknown][] = [];
  for (const specifier of specifiersOf(floor)) exported.push(...Object.entries(await import(specifier)));
  const values = new Set(exported.map(([, value]) => value));
  return [...new Set(exported.flatMap(([name, value]) => callsOf(name, value, values)))];
}

/** The function itself, or the class and its methods. */
export function callsOf(name: string, value: unknown, exported: ReadonlySet<unknown> = new Set()): string[] {
  if (typeof value !== 'function') return [];
  if (!Function.prototype.toString.call(value).startsWith('class')) return [name];
  if (value.prototype instanceof Error) return [];
  return [`new ${name}`, ...membersOf(value.prototype, exported).map((member) => `${name}.${member}`)];
}

/** With those of classes below it that are not exported themselves. */
function membersOf(prototype: object, exported: ReadonlySet<unknown>): string[] {
  const own = Object.getOwnPropertyNames(prototype).filter((member) => member !== 'constructor');
  const below: object = Object.getPrototypeOf(prototype);
  return below === Object.prototype || exported.has(below.constructor) ? own : [...own, ...membersOf(below, exported)];
}
