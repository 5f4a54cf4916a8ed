import { hkdfSync } from 'node:crypto';
import type { KeyPair } from '#canon';
import type { Hash } from '#ledger';
import { formatVerifierKey, type KnownLog, openCheckpoint, type SignerKey, signerKey } from '#merkle';
import { fileSink, type MadeCheckpoint, makeCheckpoint, readCheckpointFile, verifyLogged } from '#runtime';
import type { Store } from '#stores';
import { ServerError } from './errors.ts';

/** A signed checkpoint, with the key that verifies it. */
export interface CheckpointDocument {
  readonly origin: string;
  readonly key: string;
  readonly checkpoint: string;
  readonly size: number;
  readonly root: string;
}

/** The key of a log that has no key of its own. All servers with the root key sign as one log. */
export function derivedLogKey(root: KeyPair): SignerKey {
  const seed = hkdfSync('sha256', Buffer.from(root.privateKey, 'hex'), '', 'assize/log/v1', 32);
  return signerKey(`assize/${root.publicKey.slice(0, 16)}`, 'note', Buffer.from(seed).toString('hex'));
}

/**
 * The checkpoints of a server. The last one is in a file outside the database, if there is one.
 */
export class Checkpoints {
  readonly origin: string;
  /** The public key of the log. */
  readonly key: string;
  readonly known: KnownLog;
  readonly #store: Store;
  readonly #signer: SignerKey;
  readonly #file: string | undefined;
  #last: string | undefined;
  #signing: Promise<MadeCheckpoint> | undefined;

  constructor(store: Store, signer: SignerKey, file: string | undefined) {
    this.#store = store;
    this.#signer = signer;
    this.#file = file;
    this.origin = signer.name;
    this.key = formatVerifierKey(signer);
    this.known = { origin: signer.name, keys: [signer] };
  }

  async latest(): Promise<CheckpointDocument | undefined> {
    const text = await this.#read();
    if (text === undefined) return undefined;
    const verdict = openCheckpoint(text, this.known);
    if (!verdict.valid)
      throw new ServerError(
        'foreign_checkpoint',
        `The last checkpoint is not one of ${this.origin}: ${verdict.detail}`,
      );
    return this.#document(text, Number(verdict.checkpoint.size), verdict.checkpoint.root);
  }

  /**
   * Verifies the entries since the last checkpoint and signs a new one.
   *
   * @throws LedgerFault, and the errors of `makeCheckpoint`. Nothing is signed then
   */
  async sign(): Promise<CheckpointDocument> {
    this.#signing ??= this.#sign().finally(() => {
      this.#signing = undefined;
    });
    const { signed, size, root } = await this.#signing;
    return this.#document(signed, size, root);
  }

  /** A checkpoint of a log that has the entry. Signs one if the last one is older. */
  async covering(entryId: Hash): Promise<string> {
    const last = await this.latest();
    const index = await this.#store.logIndex(entryId);
    if (last !== undefined && index !== undefined && index < last.size) return last.checkpoint;
    return (await this.sign()).checkpoint;
  }

  async #sign(): Promise<MadeCheckpoint> {
    const last = await this.#read();
    const made = await makeCheckpoint(this.#store, {
      signer: this.#signer,
      ...(last !== undefined && { last }),
      beforeSigning: ({ from, to }) => verifyLogged(this.#store, { from, to }),
      sinks: this.#file === undefined ? [] : [fileSink(this.#file)],
    });
    this.#last = made.signed;
    return made;
  }

  async #read(): Promise<string | undefined> {
    if (this.#file === undefined) return this.#last;
    return readCheckpointFile(this.#file);
  }

  #document(checkpoint: string, size: number, root: Uint8Array): CheckpointDocument {
    return { origin: this.origin, key: this.key, checkpoint, size, root: Buffer.from(root).toString('hex') };
  }
}
