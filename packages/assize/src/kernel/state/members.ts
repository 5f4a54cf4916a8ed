import { parsePointer, toPointer } from '#canon';
import { ANY, type Pattern } from '../domain/footprint.ts';
import { type Keys, NO_KEYS } from '../domain/keys.ts';
import { hasMember } from './view.ts';

/**
 * The members (by the keys of their stars) that lie under a path, or the one that lies above it.
 */
export function membersUnder(
  { segments }: Pattern,
  state: unknown,
  path: readonly string[],
): readonly Keys[] {
  if (path.length >= segments.length) {
    // The member may be gone. Then it is checked as absent and passes, and its index entries are
    // removed.
    const keys: string[] = [];
    for (let i = 0; i < segments.length; i++) if (segments[i] === ANY) keys.push(path[i] as string);
    return [Object.freeze(keys)];
  }
  const found: Keys[] = [];
  collect(state, 0, NO_KEYS);
  return found;

  function collect(here: unknown, depth: number, keys: Keys): void {
    if (depth === segments.length) {
      found.push(keys);
      return;
    }
    if (typeof here !== 'object' || here === null) return;
    const segment = segments[depth] as string | typeof ANY;
    const named = depth < path.length ? (path[depth] as string) : segment;
    const names = named === ANY ? Object.keys(here).sort() : [named];
    for (const name of names) {
      if (!hasMember(here, name)) continue;
      collect(
        (here as Record<string, unknown>)[name],
        depth + 1,
        segment === ANY ? Object.freeze([...keys, name]) : keys,
      );
    }
  }
}

/** Whether a changed path leads into a pattern, or above it. */
export function overlapsPattern({ segments }: Pattern, path: readonly string[]): boolean {
  const shared = Math.min(segments.length, path.length);
  for (let i = 0; i < shared; i++) if (segments[i] !== ANY && segments[i] !== path[i]) return false;
  return true;
}

/** The path of a member. */
export function memberPath({ segments }: Pattern, keys: Keys): string[] {
  let star = 0;
  return segments.map((segment) => (segment === ANY ? (keys[star++] as string) : segment));
}

export function placeOf(member: Pattern, keys: Keys): string {
  return toPointer(memberPath(member, keys));
}

export function memberAt(state: unknown, { segments }: Pattern, keys: Keys): unknown {
  let star = 0;
  let here = state;
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i] as string | typeof ANY;
    const key = segment === ANY ? (keys[star++] as string) : segment;
    if (typeof here !== 'object' || here === null || !hasMember(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

export function lookup(state: unknown, path: readonly string[]): unknown {
  let here = state;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !hasMember(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

/** Identifies a member among those of one path. Most paths have one star, and its key is enough. */
export function nameOf(keys: Keys): string {
  return keys.length === 1 ? (keys[0] as string) : toPointer(keys);
}

/** The keys of a member, by its name. */
export function keysOf({ segments }: Pattern, name: string): Keys {
  let stars = 0;
  for (const segment of segments) if (segment === ANY) stars++;
  return stars === 1 ? [name] : parsePointer(name);
}

export function byKeys(a: Keys, b: Keys): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const left = a[i] as string;
    const right = b[i] as string;
    if (left !== right) return left < right ? -1 : 1;
  }
  return a.length - b.length;
}

/** Members, or other places of one rule, each once. Mostly there is one. */
export class MemberSet {
  readonly #first: Keys;
  #all: Map<string, Keys> | undefined;

  constructor(first: Keys) {
    this.#first = first;
  }

  add(keys: Keys): void {
    if (this.#all === undefined) {
      if (
        keys === this.#first ||
        (keys.length === this.#first.length && byKeys(keys, this.#first) === 0)
      )
        return;
      this.#all = new Map([[toPointer(this.#first), this.#first]]);
    }
    this.#all.set(toPointer(keys), keys);
  }

  /** In the order of a walk through the state. */
  inOrder(): readonly Keys[] {
    return this.#all === undefined ? [this.#first] : [...this.#all.values()].sort(byKeys);
  }
}
