import { randomUUID } from 'node:crypto';
import { isAssizeError, type Json } from '#base';
import { canonicalize, hashText } from '#canon';

/** How many results by reference are kept, and their characters in all. */
const KEPT_MAX = 200;
const KEPT_CHARACTERS_MAX = 64 * 1024 * 1024;

const PREFIX = 'assize://results/';

/** The large results of one principal, for as long as the gateway runs. The oldest are dropped. */
export class KeptResults {
  readonly #texts: Map<string, string> = new Map();
  #characters = 0;

  /** Returns the address under which the text can be read. */
  keep(text: string): string {
    const id = randomUUID();
    this.#texts.set(id, text);
    this.#characters += text.length;
    for (const [oldest, dropped] of this.#texts) {
      if (this.#texts.size <= KEPT_MAX && this.#characters <= KEPT_CHARACTERS_MAX) break;
      this.#texts.delete(oldest);
      this.#characters -= dropped.length;
    }
    return `${PREFIX}${id}`;
  }

  read(uri: string): string | undefined {
    return this.#texts.get(uri.slice(PREFIX.length));
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
