/** The most recently used values, up to a number of bytes in total. The last value always stays. */
export class ByteCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): Value | undefined {
    const kept = this.#entries.get(key);
    if (kept === undefined) return undefined;
    // A Map iterates in the order of insertion, so the entry used last moves to the end.
    this.#entries.delete(key);
    this.#entries.set(key, kept);
    return kept.value;
  }

  set(key: string, value: Value, bytes: number): void {
    this.delete(key);
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#bytesMax || oldest === key) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const kept = this.#entries.get(key);
    if (kept === undefined) return;
    this.#bytes -= kept.bytes;
    this.#entries.delete(key);
  }
}
