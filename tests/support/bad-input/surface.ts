import manifest from '../../../package.json' with { type: 'json' };

/** The floor that a subpath of the package stands for; the root only exports again what a floor exports. */
function floorOf(subpath: string): string {
  if (subpath.startsWith('./domains/')) return 'domains';
  return subpath.split('/')[1] as string;
}

/** What is exported by the subpaths of a floor and can be called: functions, classes as `new Name`, methods as `Name.method`. */
export async function publicNames(floor: string): Promise<string[]> {
  const exported: [name: string, value: unknown][] = [];
  for (const subpath of Object.keys(manifest.exports)) {
    if (subpath === '.' || /\.(json|ttl)$/.test(subpath) || floorOf(subpath) !== floor) continue;
    exported.push(...Object.entries(await import(`assize${subpath.slice(1)}`)));
  }
  const values = new Set(exported.map(([, value]) => value));
  return [...new Set(exported.flatMap(([name, value]) => callsOf(name, value, values)))];
}

function callsOf(name: string, value: unknown, exported: ReadonlySet<unknown>): string[] {
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
