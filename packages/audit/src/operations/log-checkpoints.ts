import { ServerError } from '@assize/command/operation';
import { type Instant, instantOf } from 'assize/internal/canon';
import {
  formatVerifierKey,
  type KnownLog,
  openCheckpoint,
  parseVerifierKey,
  type VerifiedSignature,
  type VerifierKey,
} from 'assize/internal/merkle';
import type { Store } from 'assize/internal/stores';
import {
  httpWitness,
  type LogKeys,
  makeCheckpoint,
  verifyLogged,
  type Witness,
} from '#checkpoints';
import type { KeptCheckpoint, LastCheckpoint } from './last-checkpoint.ts';

/** A signed checkpoint, with the key that verifies it. */
export interface CheckpointDocument {
  readonly origin: string;
  readonly key: string;
  readonly checkpoint: string;
  readonly size: number;
  readonly root: string;
  /** The witnesses of the configuration, and the times at which they cosigned this checkpoint. */
  readonly witnesses: readonly Cosigned[];
}

/** A witness, and its verified cosignature if the checkpoint has one. */
export interface Cosigned {
  readonly name: string;
  readonly key: string;
  readonly cosigned_at?: Instant;
}

/** The witnesses of a configuration. */
export interface Witnesses {
  readonly keys: readonly VerifierKey[];
  readonly ask: readonly Witness[];
}

export function witnessesOf(
  given: readonly { readonly url: string; readonly key: string }[],
): Witnesses {
  const known = given.map(({ url, key }) => ({ url, key: parseVerifierKey(key) }));
  return { keys: known.map(({ key }) => key), ask: known.map((one) => httpWitness(one)) };
}

/**
 * The checkpoints of a log. Every server of a store extends the last one, so their checkpoints show
 * one history.
 */
export class Checkpoints {
  readonly #store: Store;
  readonly #keys: () => LogKeys;
  readonly #kept: LastCheckpoint;
  readonly #witnesses: Witnesses;
  /** The last one of this process. A writer of the database can put an earlier row back. */
  #own: CheckpointDocument | undefined;
  #signing: Promise<CheckpointDocument> | undefined;

  constructor(store: Store, keys: () => LogKeys, kept: LastCheckpoint, witnesses: Witnesses) {
    this.#store = store;
    this.#keys = keys;
    this.#kept = kept;
    this.#witnesses = witnesses;
  }

  get origin(): string {
    return this.#keys().signer.name;
  }

  /** The public key of the log that signs from now on. */
  get key(): string {
    return formatVerifierKey(this.#keys().signer);
  }

  get known(): KnownLog {
    const { signer, earlier } = this.#keys();
    return { keys: [signer, ...earlier] };
  }

  /** The keys of the witnesses of the configuration. */
  get witnessKeys(): readonly VerifierKey[] {
    return this.#witnesses.keys;
  }

  /** @throws ServerError `wrong_state` */
  async latest(): Promise<CheckpointDocument | undefined> {
    return this.#newest(await this.#kept.read());
  }

  /**
   * Verifies the entries since the last checkpoint and signs a new one. Every witness cosigns it.
   *
   * @throws LedgerFault, and the errors of `makeCheckpoint`, as `witness_failed`. Nothing is kept
   * then
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
      const { signed } = await makeCheckpoint(this.#store, {
        signer: this.#keys().signer,
        earlier: this.#keys().earlier,
        witnesses: this.#witnesses.ask,
        ...(last !== undefined && { last: last.checkpoint }),
        beforeSigning: ({ from, to }) => verifyLogged(this.#store, { from, to }),
      });
      // The next one must extend that of the faster server.
      if (!(await this.#kept.replace(before, signed))) continue;
      this.#own = this.#opened(signed);
      return this.#own;
    }
  }

  #newest(kept: KeptCheckpoint | undefined): CheckpointDocument | undefined {
    const read = kept && this.#opened(kept.signed);
    if (read === undefined || (this.#own !== undefined && this.#own.size > read.size))
      return this.#own;
    return read;
  }

  #opened(signed: string): CheckpointDocument {
    const verdict = openCheckpoint(signed, this.known, this.#witnesses.keys);
    if (!verdict.valid)
      throw new ServerError(
        'wrong_state',
        `The last checkpoint is not one of ${this.origin}: ${verdict.detail} If the key of the log was changed, add its earlier public key to the .vkey file beside the store.`,
      );
    const { key } = verdict.signatures[0]!;
    const { size, root } = verdict.checkpoint;
    return {
      ...{ origin: verdict.checkpoint.origin, key: formatVerifierKey(key), checkpoint: signed },
      ...{ size: Number(size), root: Buffer.from(root).toString('hex') },
      witnesses: this.#witnesses.keys.map((key) => cosignedBy(key, verdict.cosignatures)),
    };
  }
}

/** The end of the year 9999. A later time is invalid. */
const SECONDS_MAX = 253_402_300_799n;

/** The first cosignature counts: a later one of the same note adds nothing. */
function cosignedBy(witness: VerifierKey, cosignatures: readonly VerifiedSignature[]): Cosigned {
  const said = { name: witness.name, key: formatVerifierKey(witness) };
  const times = cosignatures
    .filter(({ key }) => key.publicKey === witness.publicKey)
    .map(({ time = 0n }) => time);
  const [first] = times.filter((time) => time <= SECONDS_MAX).sort((a, b) => Number(a - b));
  return first === undefined
    ? said
    : { ...said, cosigned_at: instantOf(new Date(Number(first) * 1_000)) };
}
