import { escapeSegment } from '#canon';
import { type Scope, scopeAt } from '../domain/footprint.ts';
import { isIndex } from '../domain/list-index.ts';
import { FootprintFault } from '../errors.ts';

/** The part of a path through views that names a place in an error. */
interface ViewPath {
  readonly parent: ViewPath | undefined;
  readonly key: string;
}

export function pointerOf(place: ViewPath | undefined, key?: string): string {
  let pointer = key === undefined ? '' : `/${escapeSegment(key)}`;
  for (let at = place; at?.parent !== undefined; at = at.parent)
    pointer = `/${escapeSegment(at.key)}${pointer}`;
  return pointer;
}

export type Container = Record<string, unknown> | unknown[];

/**
 * Domain code's view of the state: own properties only (`constructor` and `__proto__` are ordinary
 * keys), keys in UTF-16 order, and nothing outside the footprint. A live state and one folded from
 * its ledger look the same to domain code.
 */
export abstract class Lens implements ProxyHandler<Container>, ViewPath {
  readonly parent: Lens | undefined;
  readonly key: string;
  readonly scope: Scope;
  readonly proxy: Container;
  value: Container;
  /** The most recently requested child. Holds the earlier ones too if there are several. */
  #child: Lens | undefined;
  #children: Map<string, Lens> | undefined;

  constructor(parent: Lens | undefined, key: string, value: Container, scope: Scope) {
    this.parent = parent;
    this.key = key;
    this.value = value;
    this.scope = scope;
    // The proxied object only tells lists from objects. Every trap answers from `value`, because
    // that may be exchanged.
    this.proxy = new Proxy<Container>(Array.isArray(value) ? [] : {}, this);
  }

  protected abstract open(key: string, value: Container, scope: Scope): Lens;

  get(_target: Container, key: string | symbol, receiver: unknown): unknown {
    const { value } = this;
    if (Array.isArray(value)) {
      if (key === 'length') return this.#length(value);
      if (typeof key === 'symbol' || !isIndex(key))
        return Reflect.get(Array.prototype, key, receiver);
    } else if (typeof key === 'symbol') return undefined;
    if (!this.scope.all && ASKED_BY_THE_LANGUAGE.has(key) && scopeAt(this.scope, key) === undefined)
      return undefined;
    const scope = this.scope.all ? this.scope : this.#inside(key);
    if (!Object.hasOwn(value, key)) return undefined;
    const found = (value as Record<string, unknown>)[key];
    if (typeof found === 'object' && found !== null)
      return this.child(key, found as Container, scope).proxy;
    // A footprint that starts further down has no part of a plain value here. In a list its index
    // stays.
    return scope.all ? found : Array.isArray(value) ? null : undefined;
  }

  has(_target: Container, key: string | symbol): boolean {
    if (typeof key === 'symbol') return Array.isArray(this.value) && key in Array.prototype;
    if (Array.isArray(this.value) && key === 'length') return true;
    const scope = this.scope.all ? this.scope : this.#inside(key);
    return Object.hasOwn(this.value, key) && (scope.all || this.#hasPart(key));
  }

  ownKeys(): string[] {
    if (Array.isArray(this.value)) {
      if (!this.scope.all && this.scope.any === undefined)
        throw new FootprintFault(`${pointerOf(this)}/*`, 'read');
      return Object.keys(this.value).concat('length');
    }
    const keys = Object.keys(this.value).sort();
    return this.scope.all ? keys : keys.filter((key) => this.#shows(key));
  }

  getOwnPropertyDescriptor(
    target: Container,
    key: string | symbol,
  ): PropertyDescriptor | undefined {
    if (typeof key === 'symbol') return undefined;
    if (Array.isArray(this.value) && key === 'length') {
      return {
        value: this.#length(this.value),
        writable: true,
        enumerable: false,
        configurable: false,
      };
    }
    if (!Object.hasOwn(this.value, key) || !this.#shows(key)) return undefined;
    return {
      value: this.get(target, key, this.proxy),
      writable: true,
      enumerable: true,
      configurable: true,
    };
  }

  set(_target: Container, key: string | symbol, _value: unknown): boolean {
    throw new FootprintFault(pointerOf(this, String(key)), 'write');
  }

  deleteProperty(_target: Container, key: string | symbol): boolean {
    throw new FootprintFault(pointerOf(this, String(key)), 'write');
  }

  defineProperty(_target: Container, key: string | symbol): boolean {
    throw new FootprintFault(pointerOf(this, String(key)), 'write');
  }

  setPrototypeOf(): boolean {
    return false;
  }

  preventExtensions(): boolean {
    return false;
  }

  protected child(key: string, value: Container, scope: Scope): Lens {
    const last = this.#child;
    if (last?.key === key && last.value === value) return last;
    const known = this.#children?.get(key);
    const child = known?.value === value ? known : this.open(key, value, scope);
    if (last !== undefined) this.#children = (this.#children ?? new Map()).set(last.key, last);
    this.#child = child;
    return child;
  }

  /**
   * Whether the footprint includes the length of a list: every index, or the index after the last
   * element. Every change of the length is at such a place.
   */
  protected get tellsLength(): boolean {
    return this.scope.all || this.scope.append || this.scope.any !== undefined;
  }

  #length({ length }: unknown[]): number {
    if (!this.tellsLength) throw new FootprintFault(`${pointerOf(this)}/*`, 'read');
    return length;
  }

  /** A list that can only be appended to is not visible. */
  #shows(key: string): boolean {
    const scope = scopeAt(this.scope, key);
    if (scope === undefined || scope.all) return scope !== undefined;
    return (scope.keys.size > 0 || scope.any !== undefined) && this.#hasPart(key);
  }

  /** Whether a footprint that starts below this key can have a part there. */
  #hasPart(key: string): boolean {
    const found = (this.value as Record<string, unknown>)[key];
    return Array.isArray(this.value) || (typeof found === 'object' && found !== null);
  }

  #inside(key: string): Scope {
    const scope = scopeAt(this.scope, key);
    if (scope === undefined) throw new FootprintFault(pointerOf(this, key), 'read');
    return scope;
  }
}

/** `JSON.stringify` and promises read these keys. Outside the footprint they do not exist. */
const ASKED_BY_THE_LANGUAGE: ReadonlySet<string> = new Set(['toJSON', 'then']);

class View extends Lens {
  protected override open(key: string, value: Container, scope: Scope): Lens {
    return new View(this, key, value, scope);
  }
}

/** A read-only view of the part of a state that lies in the scope. */
export function view(state: Container, scope: Scope): Container {
  return new View(undefined, '', state, scope).proxy;
}

/**
 * Whether a container has a member of that name. A list has only its elements: no change ever has
 * the path of its length.
 */
export function hasMember(container: object, key: string): boolean {
  return Object.hasOwn(container, key) && (!Array.isArray(container) || isIndex(key));
}
