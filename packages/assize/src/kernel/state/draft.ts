import { defineOwn, isInstance, type Json } from '#base';
import { composed, composedJson, copyJson } from '#canon';
import { isWhole, type Scope, scopeAt } from '../domain/footprint.ts';
import { isIndex } from '../domain/list-index.ts';
import { FootprintFault, messageOf, ValueFault } from '../errors.ts';
import { SmallMap } from './small-map.ts';
import { type Container, Lens, pointerOf } from './view.ts';

/** The last index of the longest possible list. */
const INDEX_MAX = 2 ** 32 - 2;

/** The form of the texts of a state, as a domain declares it. */
export type Texts = 'composed' | 'exact';

/** In a record of old values: the key did not exist. */
export const ABSENT: unique symbol = Symbol('absent');

export type Old = unknown | typeof ABSENT;

/**
 * The objects of a state that this `World` may change in place. A branch shares the state of its
 * source. An object that the branch does not own yet is copied, one level at a time, at its first
 * change. `undefined` means it owns everything.
 */
export type Ownership = WeakSet<object> | undefined;

/** The changes in one container. */
export class Rec {
  readonly container: Container;
  /** First old value by key. For lists also of `length`, a number. */
  readonly old: SmallMap<Old> = new SmallMap();
  /** Changed containers below, by key. A container counts only while it is still at that key. */
  readonly below: SmallMap<Rec> = new SmallMap();

  constructor(container: Container) {
    this.container = container;
  }
}

/**
 * A state under change. Writes go through to the state immediately, and every first old value is
 * stored. So the change can be read as patches (`changes.ts`) and undone, at a cost that follows
 * the change and not the size of the state. Values are copied in, so no object is in the state
 * twice and no argument is shared with it.
 */
export class Draft {
  readonly owned: Ownership;
  /** By the container itself, also to find the old content of a container that was detached. */
  readonly records: Map<Container, Rec> = new Map();
  readonly #texts: Texts;
  #state: Container;

  /** `texts`: the form of the keys and texts that domain code writes and looks up. */
  constructor(state: Container, owned: Ownership, texts: Texts = 'exact') {
    this.#state = state;
    this.owned = owned;
    this.#texts = texts;
  }

  /** The state itself. A different object than before if a shared one had to be copied. */
  get state(): Container {
    return this.#state;
  }

  /**
   * Gives domain code the part in the scope to read and change. A part that the code keeps cannot
   * be changed later.
   */
  within<T>(scope: Scope, use: (state: Container) => T): T {
    const root = new DraftNode(this, undefined, '', this.#state, scope);
    try {
      return use(root.proxy);
    } finally {
      root.ended = true;
    }
  }

  /** Restores every old value. The draft must not be used afterwards. */
  undo(): void {
    for (const record of this.records.values()) restore(record);
  }

  exchangeRoot(state: Container): void {
    this.#state = state;
  }

  /** A key or a text as the state has it (docs/decisions/022-equal-texts.md). */
  textOf(given: string): string {
    return this.#texts === 'composed' ? composed(given) : given;
  }

  /** The same for a value that was copied. @throws CanonError `bad_input` */
  valueOf(copy: Json): Json {
    return this.#texts === 'composed' ? composedJson(copy) : copy;
  }
}

function restore({ container, old }: Rec): void {
  for (const key of old.keys) {
    if (key === 'length' && Array.isArray(container)) continue;
    const was = old.get(key);
    if (was === ABSENT) Reflect.deleteProperty(container, key);
    else defineOwn(container, key, was);
  }
  if (Array.isArray(container))
    container.length = (old.get('length') as number | undefined) ?? container.length;
}

class DraftNode extends Lens {
  readonly draft: Draft;
  declare readonly parent: DraftNode | undefined;
  readonly #root: DraftNode;
  /** For a root: whether the code that received it has returned. */
  ended: boolean = false;
  #record: Rec | undefined;

  constructor(
    draft: Draft,
    parent: DraftNode | undefined,
    key: string,
    value: Container,
    scope: Scope,
  ) {
    super(parent, key, value, scope);
    this.draft = draft;
    this.#root = parent === undefined ? this : parent.#root;
  }

  protected override open(key: string, value: Container, scope: Scope): Lens {
    return new DraftNode(this.draft, this, key, value, scope);
  }

  override get(target: Container, key: string | symbol, receiver: unknown): unknown {
    return super.get(target, this.#named(key), receiver);
  }

  override has(target: Container, key: string | symbol): boolean {
    return super.has(target, this.#named(key));
  }

  override getOwnPropertyDescriptor(
    target: Container,
    key: string | symbol,
  ): PropertyDescriptor | undefined {
    return super.getOwnPropertyDescriptor(target, this.#named(key));
  }

  override set(_target: Container, given: string | symbol, value: unknown): boolean {
    if (this.#root.ended) return super.set(_target, given, value);
    if (typeof given === 'symbol')
      throw new ValueFault(`${pointerOf(this)}: a symbol cannot be a key`);
    const key = this.#keyOf(given);
    if (!key.isWellFormed())
      throw new ValueFault(
        `${pointerOf(this)}: the key ${JSON.stringify(key)} has a lone surrogate; repair the text`,
      );
    if (!this.scope.all) this.#mayTouch(key, value);
    const copy = copyIn(value, this, key);
    this.own();
    if (Array.isArray(this.value)) this.#setInList(key, copy);
    else {
      this.#remember(key);
      defineOwn(this.value, key, copy);
    }
    return true;
  }

  override deleteProperty(_target: Container, given: string | symbol): boolean {
    if (this.#root.ended) return super.deleteProperty(_target, given);
    if (typeof given === 'symbol') return true;
    const key = this.#keyOf(given);
    if (!this.scope.all) this.#mayTouch(key, undefined);
    if (!Object.hasOwn(this.value, key)) return true;
    this.own();
    this.#remember(key);
    return Reflect.deleteProperty(this.value, key);
  }

  /** Makes the container owned before its first change. The copy replaces it in the parent. */
  own(): void {
    const { owned } = this.draft;
    if (owned === undefined || owned.has(this.value)) return;
    const copy: Container = Array.isArray(this.value) ? this.value.slice() : { ...this.value };
    owned.add(copy);
    if (this.parent === undefined) this.draft.exchangeRoot(copy);
    else if (this.#stands()) {
      this.parent.own();
      defineOwn(this.parent.value, this.key, copy);
    }
    this.value = copy;
  }

  #named(key: string | symbol): string | symbol {
    return typeof key === 'string' ? this.#keyOf(key) : key;
  }

  /**
   * The key in the form of the state. A key that the state has in another form keeps it: an earlier
   * version of the domain may have taken texts exactly.
   */
  #keyOf(given: string): string {
    const key = this.draft.textOf(given);
    return key !== given && Object.hasOwn(this.value, given) ? given : key;
  }

  #mayTouch(key: string, value: unknown): void {
    // The finished patches decide whether the change is permitted. This check covers hidden values
    // and values that would be lost unseen. If it depended on their existence, the ruling would
    // reveal it.
    if (Array.isArray(this.value) && this.scope.append) {
      const { length } = this.value;
      if (key === String(length) || (key === 'length' && value === length)) return;
    }
    const isLength = key === 'length' && Array.isArray(this.value);
    if (isLength && !this.tellsLength) throw new FootprintFault(`${pointerOf(this)}/*`, 'read');
    const scope = scopeAt(this.scope, key);
    if (scope === undefined) throw new FootprintFault(pointerOf(this, key), 'read');
    // If nothing exists here, objects that lead to the footprint can be created. Their content is
    // checked with the patches.
    const leads = typeof value === 'object' && value !== null && !Array.isArray(this.value);
    const begins = !Object.hasOwn(this.value, key) && (scope.append || leads);
    if (!begins && !isWhole(scope)) throw new FootprintFault(pointerOf(this, key), 'part');
  }

  #setInList(key: string, value: unknown): void {
    const list = this.value as unknown[];
    if (key === 'length') {
      const length = value as number;
      if (!(Number.isSafeInteger(length) && length >= 0 && length <= list.length)) {
        throw new ValueFault(`${pointerOf(this)}: a list cannot grow by its length`);
      }
      if (length === list.length) return;
      for (let i = list.length - 1; i >= length; i--) this.#remember(String(i));
      this.#remember('length');
      list.length = length;
      return;
    }
    if (!isIndex(key)) throw new ValueFault(`${pointerOf(this, key)}: a list has no such index`);
    const index = Number(key);
    if (index > INDEX_MAX)
      throw new ValueFault(`${pointerOf(this, key)}: a list has no such index`);
    // A gap is allowed temporarily, as `splice` and `unshift` make one. A permanent gap is found
    // with the changes.
    if (index >= list.length) this.#remember('length');
    this.#remember(key);
    list[index] = value;
  }

  #remember(key: string): void {
    const { value } = this;
    const record = this.#recorded();
    if (record.old.has(key)) return;
    if (Array.isArray(value) && key === 'length') record.old.set(key, value.length);
    else
      record.old.set(
        key,
        Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : ABSENT,
      );
  }

  /** The record of this container. Records above know it as long as the container is below them. */
  #recorded(): Rec {
    if (this.#record?.container === this.value) return this.#record;
    let record = this.draft.records.get(this.value);
    if (record === undefined) {
      record = new Rec(this.value);
      this.draft.records.set(this.value, record);
    }
    if (this.parent !== undefined && this.#stands())
      this.parent.#recorded().below.set(this.key, record);
    this.#record = record;
    return record;
  }

  /**
   * False for a container that was detached from its parent: its changes do not change the state.
   */
  #stands(): boolean {
    const above = this.parent?.value as Record<string, unknown> | undefined;
    return above?.[this.key] === this.value;
  }
}

function copyIn(value: unknown, node: DraftNode, key: string): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  if (typeof value === 'string' && value.isWellFormed()) return node.draft.textOf(value);
  const copy = copied(value, node, key);
  if (typeof copy !== 'object' || copy === null) return copy;
  if (node.draft.owned !== undefined) own(copy, node.draft.owned);
  freezeGiven(value as object);
  return copy;
}

/**
 * The given value is not the object in the state now, and a later write to it would be lost
 * silently. So it is frozen, and the write throws. `(state.x[k] ??= {})` returns just such a value.
 * Parts of a draft cannot be frozen.
 */
function freezeGiven(value: object): void {
  if (Object.isFrozen(value)) return;
  try {
    Object.freeze(value);
  } catch {
    return;
  }
  for (const member of Object.values(value))
    if (typeof member === 'object' && member !== null) freezeGiven(member);
}

function copied(value: unknown, node: DraftNode, key: string): unknown {
  try {
    return node.draft.valueOf(copyJson(value) as Json);
  } catch (error) {
    // A view that is read outside its footprint while being copied has that fault. Any other error
    // is a value that is not JSON.
    const cause = isInstance(error, Error) ? error.cause : undefined;
    if (isInstance(cause, FootprintFault)) throw cause;
    throw new ValueFault(`${pointerOf(node, key)}: ${messageOf(error)}`, { cause: error });
  }
}

/** A value that was just copied in belongs to this `World` at every depth. */
function own(value: object, owned: WeakSet<object>): void {
  owned.add(value);
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) own(member, owned);
  }
}
