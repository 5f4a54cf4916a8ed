import { randomUUID } from 'node:crypto';
import { isAssizeError, type Json } from 'assize/internal/base';
import { canonicalize, hashText } from 'assize/internal/canon';

/** How many results by reference are kept. */
const KEPT_MAX = 200;
/** The characters of all kept results by default. */
const KEPT_CHARACTERS_MAX = 64 * 1024 * 1024;

const PREFIX = 'assize://results/';

interface Kept<T> {
  readonly value: T;
  readonly characters: number;
  readonly timer: NodeJS.Timeout | undefined;
}

/** The large results of one principal, as long as the gateway runs. The oldest are dropped. */
export class KeptResults<T = string> {
  readonly #kept: Map<string, Kept<T>> = new Map();
  readonly #most: number;
  readonly #ms: number | undefined;
  #characters = 0;

  /** `most`: characters in all. `ms`: how long one is kept. Default: until the process ends. */
  constructor({
    most = KEPT_CHARACTERS_MAX,
    ms,
  }: { readonly most?: number; readonly ms?: number } = {}) {
    this.#most = most;
    this.#ms = ms;
  }

  /** Returns the address under which the value can be read. */
  keep(value: T, characters: number): string {
    const id = randomUUID();
    const timer =
      this.#ms === undefined ? undefined : setTimeout(() => this.#drop(id), this.#ms).unref();
    this.#kept.set(id, { value, characters, timer });
    this.#characters += characters;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX && this.#characters <= this.#most) break;
      this.#drop(oldest);
    }
    return `${PREFIX}${id}`;
  }

  read(uri: string): T | undefined {
    return this.#kept.get(uri.slice(PREFIX.length))?.value;
  }

  #drop(id: string): void {
    const kept = this.#kept.get(id);
    clearTimeout(kept?.timer);
    this.#kept.delete(id);
    this.#characters -= kept?.characters ?? 0;
  }
}

export function isResultAddress(uri: string): boolean {
  return uri.startsWith(PREFIX);
}

/** The record of a result in the ledger: the result itself, or the hash of a large one. */
export function recordedResult(result: object, maxBytes: number): Json {
  const text = JSON.stringify(result);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) return { sha256: hashText(text), bytes };
  try {
    const json = JSON.parse(text) as Json;
    canonicalize(json);
    return json;
  } catch (error) {
    // It has no canonical text, for example a half of a surrogate pair.
    if (isAssizeError(error)) return { sha256: hashText(JSON.stringify(text)), bytes };
    throw error;
  }
}

/** An answer of the server, without the name that it gives itself. */
export function passed<R extends object>(result: R): R {
  const { _meta, ...rest } = result as { readonly _meta?: Readonly<Record<string, unknown>> };
  if (_meta === undefined) return result;
  const own = Object.entries(_meta).filter(([key]) => !key.startsWith('io.modelcontextprotocol/'));
  return { ...rest, ...(own.length > 0 && { _meta: Object.fromEntries(own) }) } as R;
}
