/**
 * Records by id over a lower layer of the same kind. The lower layer stays unchanged: a changed
 * record is copied into this layer alone. A hundred databases that differ in a few records
 * therefore share all other records.
 */
export class Layer<Item> {
  readonly #below: Layer<Item> | { readonly [id: string]: Item };
  readonly #own = new Map<string, Item | undefined>();

  constructor(below: Layer<Item> | { readonly [id: string]: Item }) {
    this.#below = below;
  }

  /** Not to be changed. */
  peek(id: string): Item | undefined {
    if (this.#own.has(id)) return this.#own.get(id);
    if (this.#below instanceof Layer) return this.#below.peek(id);
    return Object.hasOwn(this.#below, id) ? this.#below[id] : undefined;
  }

  /** Undefined: it is gone. */
  set(id: string, item: Item | undefined): void {
    this.#own.set(id, item);
  }

  /** The records that can differ from the layer below. */
  get touched(): readonly string[] {
    return [...this.#own.keys()];
  }

  /** As an object that may be changed. Only the parts that are read are copied. */
  open(): Record<string, Item> {
    return new Proxy<Record<string, Item>>(Object.create(null), {
      get: (_, id) => (typeof id === 'string' ? this.#copied(id) : undefined),
      set: (_, id, item: Item) => {
        this.set(id as string, item);
        return true;
      },
    });
  }

  #copied(id: string): Item | undefined {
    if (!this.#own.has(id)) {
      const below = this.peek(id);
      if (below === undefined) return undefined;
      this.#own.set(id, structuredClone(below));
    }
    return this.#own.get(id);
  }
}

/** A database: layers by the name of their collection. */
export type Layers = { readonly [collection: string]: Layer<any> };

/** A database over another. */
export function over(layers: Layers): Layers {
  return Object.fromEntries(
    Object.entries(layers).map(([name, layer]) => [name, new Layer(layer)]),
  );
}
