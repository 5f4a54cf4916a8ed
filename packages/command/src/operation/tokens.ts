import { timingSafeEqual } from 'node:crypto';
import type { WritChain } from 'assize/host';
import { addMicros, hashText, type Instant } from 'assize/internal/canon';
import type { PrincipalKind } from 'assize/internal/config';
import type { SideStore } from 'assize/internal/ledger';
import type { Random } from 'assize/internal/oracle';
import { SealedRows } from 'assize/internal/stores';
import type { Caller } from './caller.ts';
import { ServerError } from './errors.ts';

/** The principals that created a token: the caller, and the makers of the token of the caller. */
export interface TokenMaker {
  readonly principals: readonly string[];
  /** How the caller was identified. `command line`: by the root key, as no principal. */
  readonly method: string;
}

export const COMMAND_LINE: TokenMaker = { principals: [], method: 'command line' };

/** The caller as the creator of a token. */
export function makerOf({ name, method, tokenBy = [] }: Caller): TokenMaker {
  return { principals: [name, ...tokenBy], method };
}

/** A bearer token without its secret. Only its holder has the secret. */
export interface TokenRow {
  readonly id: string;
  readonly principal: string;
  /** The kinds for which the token counts, if its principal is of them. */
  readonly kinds: readonly PrincipalKind[];
  readonly created: Instant;
  readonly expires: Instant;
  readonly note?: string;
  /** Absent for a token of an earlier version. */
  readonly by?: TokenMaker;
  /** The writ that the token is limited to. */
  readonly writ?: WritChain;
}

interface StoredToken extends Omit<TokenRow, 'id'> {
  /** SHA-256 of the secret. */
  readonly hash: string;
}

const TOKEN = /^asz_([0-9a-f]{16})_([0-9a-f]{64})$/;
/** A list says for this long that a token has expired. */
const KEPT_MICROS = 7 * 24 * 60 * 60 * 1_000_000;
/** Matches no secret. */
const NO_HASH = '0'.repeat(64);

export function isToken(text: string): boolean {
  return text.startsWith('asz_');
}

/** The bearer tokens of a server. The side log has the hashes of their secrets. */
export class Tokens {
  readonly #rows: SealedRows<StoredToken>;
  readonly #random: Random;

  /** `secret`: shared by all servers of a store, and derived from the root key. */
  constructor(side: SideStore, secret: Uint8Array, random: Random) {
    this.#rows = new SealedRows(side, 'token', secret);
    this.#random = random;
  }

  /** Makes a token and returns its text. The text cannot be shown again. */
  async create(
    terms: Omit<TokenRow, 'id'>,
  ): Promise<{ readonly token: string; readonly row: TokenRow }> {
    for (;;) {
      const id = hex(this.#random.bytes(8));
      const secret = hex(this.#random.bytes(32));
      if (await this.#rows.put(id, null, { ...terms, hash: hashText(secret) }))
        return { token: `asz_${id}_${secret}`, row: { id, ...terms } };
    }
  }

  /**
   * The row of a token.
   *
   * @throws ServerError `unauthenticated`, with the same message for every unknown, ended or
   * altered token
   */
  async verify(token: string, now: Instant): Promise<TokenRow> {
    const [, id = '', secret = ''] = TOKEN.exec(token) ?? [];
    const row = id === '' ? undefined : await this.#rows.get(id);
    // Also compared for an unknown id, so the time of an answer does not tell the ids.
    const isEqual = timingSafeEqual(
      Buffer.from(row?.value.hash ?? NO_HASH),
      Buffer.from(hashText(secret)),
    );
    if (row === undefined || !isEqual || now >= row.value.expires)
      throw new ServerError(
        'unauthenticated',
        'The token is unknown, has expired or was revoked. A stopped agent (assize agents list) gets no other one; else create one with assize token create, and with the root key of this server.',
        { cause: new Error(`token ${id}: ${refusal(row?.value, isEqual)}`) },
      );
    return shown(id, row.value);
  }

  /** The tokens after an id, by id. A token that has expired is among them until a sweep. */
  async *list(after?: string): AsyncGenerator<TokenRow> {
    for await (const { key, value } of this.#rows.list(after)) yield shown(key, value);
  }

  /** Deletes a token. Returns false if there is none. */
  revoke(id: string): Promise<boolean> {
    return this.#rows.delete(id);
  }

  /** Deletes the tokens of a principal, and of names below its own. Returns their number. */
  async revokeOf(name: string): Promise<number> {
    let revoked = 0;
    for await (const { key, value } of this.#rows.list())
      if (`${value.principal}/`.startsWith(`${name}/`) && (await this.#rows.delete(key))) revoked++;
    return revoked;
  }

  /** Deletes tokens that expired a week ago or earlier. */
  async sweep(now: Instant): Promise<void> {
    const ended = addMicros(now, -KEPT_MICROS);
    for await (const { key, value } of this.#rows.list())
      if (value.expires <= ended) await this.#rows.delete(key);
  }
}

/** Why a token is refused, for the log. A revoked token is no longer stored. */
function refusal(stored: StoredToken | undefined, isEqual: boolean): string {
  if (stored === undefined) return 'it is unknown, was revoked, or belongs to another root key';
  return isEqual ? `it expired at ${stored.expires}` : 'its secret is another one';
}

function shown(id: string, { hash: _hash, ...row }: StoredToken): TokenRow {
  return { id, ...row };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
