import { arg, checkArgument, isAssizeError } from 'assize/internal/base';
import {
  askNodes,
  compareWithHead,
  comparisonFault,
  integrateLog,
  type LogHead,
  type LogStore,
  logHead,
} from 'assize/internal/ledger';
import {
  type Checkpoint,
  type CheckpointVerdict,
  consistencyProof,
  type KnownLog,
  openCheckpoint,
  type SignerKey,
  signCheckpoint,
  type VerifierKey,
} from 'assize/internal/merkle';
import { RuntimeError } from 'assize/internal/runtime';

/** The key that signs checkpoints of a log now, and those that signed before. */
export interface LogKeys {
  readonly signer: SignerKey;
  readonly earlier: readonly VerifierKey[];
}

export interface CheckpointOptions {
  /** The log's own key; its name is the origin. */
  readonly signer: SignerKey;
  /** Keys that signed before: the last checkpoint may be by one of them. */
  readonly earlier?: readonly VerifierKey[];
  /** The last signed checkpoint, if it was kept: the new one must extend it. */
  readonly last?: string;
  /**
   * Witnesses that cosign, in this order. A witness that refuses or is unreachable fails the
   * checkpoint.
   */
  readonly witnesses?: readonly Witness[];
  /** Destinations outside the database, in this order, after the witnesses. */
  readonly sinks?: readonly CheckpointSink[];
  /**
   * Called before the signature, with the positions that the last checkpoint lacks: `from`, and
   * before `to`. A rejection prevents the signature. `verifyLogged` verifies these entries.
   */
  readonly beforeSigning?: (positions: {
    readonly from: number;
    readonly to: number;
  }) => Promise<unknown>;
  /** Called while entries get their positions, with the size of the log. */
  readonly onProgress?: (size: number) => void;
}

/** A witness checks that a log never shows two histories. */
export interface Witness {
  readonly key: VerifierKey;
  /**
   * Gets a cosignature for a checkpoint of that size. `proofFrom` makes the consistency proof from
   * the size that the witness knows. Returns the checkpoint with the cosignature.
   *
   * @throws RuntimeError `witness_failed`
   */
  cosign(
    signed: string,
    size: number,
    proofFrom: (old: number) => Promise<readonly Uint8Array[]>,
  ): Promise<string>;
}

/** A destination where checkpoints are stored or published. */
export interface CheckpointSink {
  put(signed: string): Promise<void>;
}

/** A new checkpoint. */
export interface MadeCheckpoint extends LogHead {
  /** The signed note, with all cosignatures. */
  readonly signed: string;
}

const CHECKPOINT_OPTIONS = arg.options<CheckpointOptions>({
  signer: arg.members({
    name: arg.text,
    use: arg.text,
    id: arg.text,
    publicKey: arg.text,
    privateKey: arg.text,
  }),
  earlier: arg.optional(
    arg.list(arg.members({ name: arg.text, use: arg.text, id: arg.text, publicKey: arg.text })),
  ),
  last: arg.optional(arg.text),
  witnesses: arg.optional(arg.list(arg.members({ cosign: arg.code }))),
  sinks: arg.optional(arg.list(arg.members({ put: arg.code }))),
  beforeSigning: arg.optional(arg.code),
  onProgress: arg.any,
});

/**
 * Gives all entries their positions, signs the log, and sends the checkpoint to witnesses and
 * sinks. Signs only a log that extends the last checkpoint. Verifies no entry itself: see
 * `beforeSigning`.
 *
 * @throws RuntimeError `bad_checkpoint`, `witness_failed`; the errors of `beforeSigning` and of a
 * sink; ArgumentError `bad_argument`
 */
export async function makeCheckpoint(
  store: LogStore,
  options: CheckpointOptions,
): Promise<MadeCheckpoint> {
  checkArgument(CHECKPOINT_OPTIONS, options, 'options');
  const {
    signer,
    earlier = [],
    last,
    witnesses = [],
    sinks = [],
    beforeSigning,
    onProgress,
  } = options;
  await integrateLog(store, onProgress === undefined ? {} : { onProgress });
  const log =
    earlier.length === 0 ? { origin: signer.name, keys: [signer] } : { keys: [signer, ...earlier] };
  const before = last === undefined ? undefined : readCheckpoint(last, log).checkpoint;
  if (before !== undefined) await requireContinuation(store, before);
  const head = await logHead(store);
  await beforeSigning?.({ from: Number(before?.size ?? 0), to: head.size });
  let signed = signCheckpoint(head, signer);
  const proofFrom = (old: number): Promise<readonly Uint8Array[]> =>
    askNodes(store, (read) => consistencyProof(old, head.size, read));
  for (const witness of witnesses) {
    try {
      signed = await witness.cosign(signed, head.size, proofFrom);
    } catch (error) {
      throw await whyNotCosigned(error, store, head.size);
    }
  }
  for (const sink of sinks) await sink.put(signed);
  return { ...head, signed };
}

/**
 * Entries that only the witness knows are missing only if the store still lacks them now. Another
 * process may have been faster.
 */
async function whyNotCosigned(error: unknown, store: LogStore, size: number): Promise<unknown> {
  if (!isAssizeError(error, 'witness_failed')) return error;
  const { witness, recorded } = error.evidence;
  if (typeof recorded !== 'number' || recorded <= size || (await store.logSize()) < recorded)
    return error;
  return new RuntimeError(
    'witness_failed',
    `The witness ${witness} did not cosign: another process has sent it ${recorded} entries of this log, and this checkpoint has ${size}. Make the checkpoint again.`,
    { evidence: error.evidence, retryable: true, cause: error },
  );
}

/**
 * Checks that a store extends a checkpoint that was kept outside of it. A store with a lost tail,
 * an old backup or a rewritten history does not.
 *
 * @throws RuntimeError `bad_checkpoint`; ArgumentError `bad_argument`
 */
export async function requireContinuation(store: LogStore, checkpoint: Checkpoint): Promise<void> {
  checkArgument(arg.members({ origin: arg.text }), checkpoint, 'checkpoint');
  const standing = await compareWithHead(store, checkpoint);
  const fault = comparisonFault(standing, checkpoint);
  if (fault === undefined) return;
  const evidence = { checkpoint: Number(checkpoint.size), log: standing.size };
  throw new RuntimeError('bad_checkpoint', fault, { evidence });
}

/**
 * A checkpoint, verified by the log's signature.
 *
 * @throws RuntimeError `bad_checkpoint`; ArgumentError `bad_argument`
 */
export function readCheckpoint(
  signed: string,
  log: KnownLog,
  witnesses: readonly VerifierKey[] = [],
): Extract<CheckpointVerdict, { valid: true }> {
  const opened = openCheckpoint(signed, log, witnesses);
  if (opened.valid) return opened;
  throw new RuntimeError(
    'bad_checkpoint',
    `The checkpoint cannot be trusted: ${opened.detail} Check that its file was not changed, and that the key is that of its log. If the key of the log was changed, name the earlier key as well (--log-key).`,
    { evidence: { reason: opened.reason } },
  );
}
