import { hkdfSync } from 'node:crypto';
import type { KeyPair } from '#canon';
import { formatVerifierKey, type KnownLog, openCheckpoint, type SignerKey, signerKey } from '#merkle';
import { makeCheckpoint, verifyLogged } from '#runtime';
import type { Store } from '#stores';
import { ServerError } from './errors.ts';
import type { KeptCheckpoint, LastCheckpoint } from './last-checkpoint.ts';

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
 * The checkpoints of a log. Every server of a store extends the last one, so their checkpoints show
 * one history.
 */
export class Checkpoints {
  readonly origin: string;
  /** The public key of the log. */
  readonly key: string;
  readonly known: KnownLog;
  readonly #store: Store;
  readonly #signer: SignerKey;
  readonly #kept: LastCheckpoint;
  /** The last one of this process. A writer of the database can put an earlier row back. */
  #own: CheckpointDocument | undefined;
  #signing: Promise<CheckpointDocument> | undefined;

  constructor(store: Store, signer: SignerKey, kept: LastCheckpoint) {
    this.#store = store;
    this.#signer = signer;
    this.#kept = kept;
    this.origin = signer.name;
    this.key = formatVerifierKey(signer);
    this.known = { origin: signer.name, keys: [signer] };
  }

  /** @throws ServerError `foreign_checkpoint` */
  async latest(): Promise<CheckpointDocument | undefined> {
    return this.#newest(await this.#kept.read());
  }

  /**
   * Verifies the entries since the last checkpoint and signs a new one.
   *
   * @throws LedgerFault, and the errors of `makeCheckpoint`. Nothing is kept then
   */
  sign(): Promise<CheckpointDocument> {
    this.#signing ??= this.#sign().finally(() => {
      this.#signing = undefined;
    });
    return this.#signing;
  }

  async #sign(): Promise<CheckpointDocument> {
    for (;;) {
      const before = await this.#kept.read();
      const last = this.#newest(before);
      const { signed, size, root } = await makeCheckpoint(this.#store, {
        signer: this.#signer,
        ...(last !== undefined && { last: last.checkpoint }),
        beforeSigning: ({ from, to }) => verifyLogged(this.#store, { from, to }),
      });
      // The next one must extend that of the faster server.
      if (!(await this.#kept.replace(before, signed))) continue;
      this.#own = this.#document(signed, size, root);
      return this.#own;
    }
  }

  #newest(kept: KeptCheckpoint | undefined): CheckpointDocument | undefined {
    const read = kept && this.#opened(kept.signed);
    if (read === undefined || (this.#own !== undefined && this.#own.size > read.size)) return this.#own;
    return read;
  }

  #opened(signed: string): CheckpointDocument {
    const verdict = openCheckpoint(signed, this.known);
    if (!verdict.valid)
      throw new ServerError(
        'foreign_checkpoint',
        `The last checkpoint is not one of ${this.origin}: ${verdict.detail}`,
      );
    return this.#document(signed, Number(verdict.checkpoint.size), verdict.checkpoint.root);
  }

  #document(checkpoint: string, size: number, root: Uint8Array): CheckpointDocument {
    return { origin: this.origin, key: this.key, checkpoint, size, root: Buffer.from(root).toString('hex') };
  }
}
