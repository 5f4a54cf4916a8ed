import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { isAssizeError, type Json, LruCache } from '#base';
import { canonicalize, type KeyPair, keyedHash, parseCanonical } from '#canon';
import type { SideStore } from '#ledger';

const PAGE = 1_000;
/** Texts of rows that stay in memory. */
const CHECKED_MAX = 1_000;

/** A row and the version that a later change must name. */
export interface SealedRow<T> {
  readonly key: string;
  readonly version: number;
  readonly value: T;
}

/**
 * Rows of one kind in the side log, each with a MAC under a key of the server. A writer of the
 * database alone cannot add or change a row: such a row counts as absent. It can delete a row, or
 * put an earlier one back.
 */
export class SealedRows<T extends object> {
  readonly #side: SideStore;
  readonly #kind: string;
  readonly #secret: Uint8Array;
  readonly #checked: LruCache<T | null> = new LruCache(CHECKED_MAX);

  constructor(side: SideStore, kind: string, secret: Uint8Array) {
    this.#side = side;
    this.#kind = kind;
    this.#secret = secret;
  }

  async get(key: string): Promise<SealedRow<T> | undefined> {
    const row = await this.#side.sideGet(this.#kind, key);
    return row === undefined ? undefined : this.#opened(key, row.version, row.body);
  }

  /** The rows after a key, in the order of their keys. They are read a page at a time. */
  async *list(after?: string, limit: number = PAGE): AsyncGenerator<SealedRow<T>> {
    for (let last = after; ; ) {
      const page = await this.#side.sideList(this.#kind, {
        limit,
        ...(last !== undefined && { after: last }),
      });
      for (const { key, version, body } of page) {
        const row = this.#opened(key, version, body);
        if (row !== undefined) yield row;
      }
      last = page.at(-1)?.key;
      if (page.length < limit) return;
    }
  }

  /** Writes a row if the stored one has that version. `null`: if there is none. */
  put(key: string, expected: number | null, value: T): Promise<boolean> {
    const text = canonicalize([this.#kind, key, value]);
    const body = canonicalize({ mac: keyedHash(this.#secret, text), value });
    return this.#side.sidePut([{ kind: this.#kind, key, expected, body }]);
  }

  /** Deletes a row of any content. Returns false if there is none. */
  async delete(key: string): Promise<boolean> {
    for (;;) {
      const row = await this.#side.sideGet(this.#kind, key);
      if (row === undefined) return false;
      if (await this.#side.sidePut([{ kind: this.#kind, key, expected: row.version, body: null }]))
        return true;
    }
  }

  /** A text that was checked once is not checked again. */
  #opened(key: string, version: number, body: string): SealedRow<T> | undefined {
    const value = this.#checked.get(`${key}\n${body}`, () => this.#check(key, body) ?? null);
    return value === null ? undefined : { key, version, value };
  }

  #check(key: string, body: string): T | undefined {
    const { mac, value } = (parsed(body) ?? {}) as { readonly mac?: Json; readonly value?: Json };
    if (typeof mac !== 'string' || value === undefined) return undefined;
    const wanted = Buffer.from(keyedHash(this.#secret, canonicalize([this.#kind, key, value])));
    const given = Buffer.from(mac);
    if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return undefined;
    return value as unknown as T;
  }
}

function parsed(text: string): Json | undefined {
  try {
    return parseCanonical(text);
  } catch (error) {
    if (isAssizeError(error)) return undefined;
    throw error;
  }
}

/** The secret of the sealed rows of a store: the same in every process with the root key. */
export function sideSecretOf({ privateKey }: Pick<KeyPair, 'privateKey'>): Uint8Array {
  return new Uint8Array(
    hkdfSync('sha256', Buffer.from(privateKey, 'hex'), '', 'assize/side/v1', 32),
  );
}
