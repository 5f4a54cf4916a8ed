import manifest from '../../../package.json' with { type: 'json' };

/** The floor that a subpath of the package stands for; the root only exports again what a floor exports. */
function floorOf(subpath: string): string {
  if (subpath.startsWith('./domains/')) return 'domains';
  return subpath.split('/')[1] as string;
}

/** What is exported by the subpaths of a floor and can be called: functions, classes as `new Name`, methods as `Name.method`. */
export async function publicNames(floor: string): Promise<string[]> {
  const names = new Set<string>();
  for (const subpath of Object.keys(manifest.exports)) {
    if (subpath === '.' || /\.(json|ttl)$/.test(subpath) || floorOf(subpath) !== floor) continue;
    for (const [name, value] of Object.entries(await import(`assize${subpath.slice(1)}`)))
      for (const called of callsOf(name, value)) names.add(called);
  }
  return [...names];
}

function callsOf(name: string, value: unknown): string[] {
  if (typeof value !== 'function') return [];
  if (!Function.prototype.toString.call(value).startsWith('class')) return [name];
  if (value.prototype instanceof Error) return [];
  return [`new ${name}`, ...membersOf(value.prototype).map((member) => `${name}.${member}`)];
}

/** Inherited ones too. */
function membersOf(prototype: object | null): string[] {
  if (prototype === null || prototype === Object.prototype) return [];
  const own = Object.getOwnPropertyNames(prototype).filter((member) => member !== 'constructor');
  return [...own, ...membersOf(Object.getPrototypeOf(prototype))];
}
