import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { keyedHash } from '#canon';
import type { EntryRow, Hash } from '#ledger';
import { StoreError } from './errors.ts';

/** A stored row. `seal`: absent in a store without seals, and empty if it is missing. */
export interface StoredRow extends EntryRow {
  readonly seal?: string;
}

/** Whether a store checks seals. `unchecked`: it is sealed, and was opened without a key. */
export type SealState = 'absent' | 'unchecked' | 'checked';

/** The port for the seals of entries. A store in memory has none: only its process writes to it. */
export interface Sealable {
  sealState(): Promise<SealState>;
  /**
   * Whether an entry has a seal. This process then refuses the entries without one, as in a sealed
   * store: the mark of a sealed store may have been removed.
   */
  requireSeals(): Promise<boolean>;
  /**
   * Seals every entry that has no seal. From then on the store refuses entries without one. Verify
   * the store first: a seal says that a process with the root key accepted the entry.
   *
   * @throws StoreError `root_key_missing` for a store that was opened without a key
   */
  sealEntries(onProgress?: (sealed: number) => void): Promise<number>;
}

/** Hex digits that name the key of a seal, before those of the MAC. */
const KEY_DIGITS = 16;
const PURPOSE = 'assize/entry-seal/v1';

/**
 * The seals of entries: the id of a key, and HMAC-SHA256 of the entry's id under it. The id commits
 * to the trajectory, the seq, the payload and every entry before. The key is derived from a root
 * key, so a user of the database cannot make a seal.
 */
export class EntrySeals {
  readonly #current: readonly [id: string, secret: Uint8Array];
  readonly #secrets: ReadonlyMap<string, Uint8Array>;
  /** Whether this process has seen the mark of a sealed store. An attacker may remove the mark. */
  isMarked = false;

  /** The first key seals. Seals of the others stay valid. */
  constructor(rootKeys: readonly [string, ...string[]]) {
    const [current, ...earlier] = rootKeys.map(namedSecret);
    this.#current = current!;
    this.#secrets = new Map([current!, ...earlier]);
  }

  /** @throws StoreError `root_key_missing` for an entry whose own seal is not valid */
  of({ id, unsealed }: Pick<EntryRow, 'id' | 'unsealed'>): string {
    if (unsealed !== undefined)
      throw new StoreError(
        'root_key_missing',
        `The entry ${id} is not written, because ${unsealed}.`,
        {
          evidence: { id },
        },
      );
    const [name, secret] = this.#current;
    return name + keyedHash(secret, id);
  }

  /** The reason why a seal does not hold. */
  faultOf(id: Hash, seal: string): string | undefined {
    if (seal === '') return 'it has no seal, so a process without the root key wrote it';
    const name = seal.slice(0, KEY_DIGITS);
    const secret = this.#secrets.get(name);
    if (secret === undefined)
      return `its seal is by the key ${name}, which is not among the root keys. Add that root key after the current one`;
    const wanted = Buffer.from(keyedHash(secret, id), 'latin1');
    const given = Buffer.from(seal.slice(KEY_DIGITS), 'latin1');
    const holds = wanted.length === given.length && timingSafeEqual(wanted, given);
    return holds ? undefined : 'its seal is not valid, so a process without the root key wrote it';
  }
}

/** The root keys with which a store checks its seals. The first one seals. */
export function sealKeys(root: SealingKey | undefined): { readonly rootKeys?: readonly string[] } {
  const { privateKey, earlier = [] } = root ?? {};
  return privateKey === undefined ? {} : { rootKeys: [privateKey, ...earlier] };
}

/** The private keys of a root key. A process that only reads has none. */
export interface SealingKey {
  readonly privateKey?: string;
  readonly earlier?: readonly string[];
}

/** The seals of a store that was opened with root keys. */
export function sealsOf(rootKeys: readonly string[] | undefined): EntrySeals | undefined {
  const [first, ...others] = rootKeys ?? [];
  return first === undefined ? undefined : new EntrySeals([first, ...others]);
}

/** Rows without their seals. A row whose seal does not hold says why. */
export function withoutSeals(rows: StoredRow[], seals: EntrySeals | undefined): EntryRow[] {
  const missing = seals?.isMarked === true ? '' : undefined;
  if (missing === undefined && rows.every(({ seal }) => seal === undefined)) return rows;
  return rows.map(({ seal = missing, ...row }) => {
    const unsealed = seal === undefined ? undefined : seals?.faultOf(row.id, seal);
    return unsealed === undefined ? row : { ...row, unsealed };
  });
}

/** `path` names the store. */
export function unsealedWriterError(path?: string): StoreError {
  return new StoreError(
    'root_key_missing',
    `The entries of ${path ?? 'the store'} need a seal, and this process has no root key. Set ASSIZE_ROOT_KEY_FILE to the file of its root key, or pass \`rootKeys\` to openStore.`,
    { evidence: path === undefined ? {} : { path } },
  );
}

function namedSecret(rootKey: string): readonly [string, Uint8Array] {
  const secret = new Uint8Array(hkdfSync('sha256', Buffer.from(rootKey, 'hex'), '', PURPOSE, 32));
  return [keyedHash(secret, 'id').slice(0, KEY_DIGITS), secret];
}
