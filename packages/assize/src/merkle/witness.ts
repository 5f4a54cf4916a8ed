import { arg, checkArgument } from '#base';
import { type AddCheckpoint, parseAddCheckpoint } from './add-checkpoint.ts';
import { attempt, MerkleError } from './errors.ts';
import { emptyRoot, sameHash } from './hash.ts';
import type { NoteSignature } from './note.ts';
import { type KnownLog, openCheckpoint } from './open-checkpoint.ts';
import { wideSize } from './size.ts';
import { type TreeHead, verifyConsistency } from './verify.ts';

/** A witness's record of a log: the latest tree that it cosigned. */
export interface WitnessRecord {
  readonly size: bigint;
  readonly root: Uint8Array;
}

/**
 * The data that a witness reads. Each function is called at most once, with the origin of the sent
 * checkpoint.
 */
export interface WitnessMemory {
  /** The log of that origin, or undefined if this witness does not follow it. */
  readonly log: (origin: string) => KnownLog | undefined;
  /** The last recorded tree, or undefined if there is none. */
  readonly recorded: (origin: string) => TreeHead | undefined;
}

/** The reason why a witness does not cosign. Each belongs to one status. */
export type WitnessRefusal =
  /** 400: not a request, or `old` above the size of the checkpoint. */
  | 'malformed'
  | 'old_above_size'
  /** 404 */
  | 'unknown_log'
  /** 403: no signature by a key of the log, or an invalid one. */
  | 'not_signed'
  | 'bad_signature'
  /** 409: `old` differs from the recorded size in the body. */
  | 'stale'
  /**
   * 422: a proof from size 0; size 0 with a root; the same size with another root; an invalid
   * proof.
   */
  | 'proof_from_nothing'
  | 'false_empty_root'
  | 'other_root'
  | 'bad_proof';

export type WitnessDecision =
  | {
      readonly status: 200;
      readonly origin: string;
      /** Store it before the answer, in one step with the read of the previous record. */
      readonly record: WitnessRecord;
      /** The text to cosign. */
      readonly text: string;
      /** The valid signatures of the log, to be shown to monitors with the witness's own. */
      readonly signatures: readonly NoteSignature[];
    }
  | {
      readonly status: 400 | 403 | 404 | 409 | 422;
      readonly reason: WitnessRefusal;
      /** The body of the answer. */
      readonly body: string;
      readonly contentType: string;
    };

/**
 * Decides an add-checkpoint request (c2sp.org/tlog-witness). The body is untrusted. After the
 * answer 200 the caller must store `record` for that log, and only then cosign and answer. Reading
 * `recorded` and storing `record` must be one atomic step. Otherwise the slower of two requests
 * rolls the log back.
 *
 * @throws MerkleError `bad_key` for two keys of one name and id in the configuration;
 * `bad_argument` for an invalid record; ArgumentError `bad_argument`
 */
export function decideCheckpoint(
  body: string | Uint8Array,
  memory: WitnessMemory,
): WitnessDecision {
  checkArgument(arg.members({ log: arg.code, recorded: arg.code }), memory, 'memory');
  const request = attempt(() => parseAddCheckpoint(body));
  if (request instanceof MerkleError) return refusal('malformed', request.message);
  const { checkpoint, signed, old } = request;
  const log = memory.log(checkpoint.origin);
  if (log === undefined) return refusal('unknown_log', 'This witness does not follow that log.');
  const opened = openCheckpoint(signed, log);
  if (!opened.valid && opened.reason !== 'malformed_checkpoint') {
    return refusal(
      opened.reason === 'bad_signature' ? 'bad_signature' : 'not_signed',
      opened.detail,
    );
  }
  if (old > checkpoint.size)
    return refusal('old_above_size', 'The old size is above the size of the checkpoint.');
  const recorded = recordOf(memory.recorded(checkpoint.origin));
  if (old !== recorded.size) return refusal('stale', `${recorded.size}\n`);
  // The request was readable, so this is the only possible fault of a signed checkpoint.
  if (!opened.valid) return refusal('false_empty_root', opened.detail);
  const broken = inconsistency(recorded, request);
  if (broken !== undefined) return broken;
  return {
    status: 200,
    origin: checkpoint.origin,
    record: { size: checkpoint.size, root: checkpoint.root },
    text: opened.text,
    signatures: opened.signatures.map(({ signature }) => signature),
  };
}

/** The refusal of a checkpoint that does not continue the recorded tree. */
function inconsistency(
  recorded: WitnessRecord,
  { checkpoint, proof }: AddCheckpoint,
): WitnessDecision | undefined {
  if (recorded.size === checkpoint.size && !sameHash(recorded.root, checkpoint.root)) {
    return refusal('other_root', 'A checkpoint of that size with another root was cosigned.');
  }
  if (recorded.size === 0n) {
    return proof.length === 0
      ? undefined
      : refusal('proof_from_nothing', 'A request from size 0 must have no proof.');
  }
  if (verifyConsistency(recorded, checkpoint, proof)) return undefined;
  return refusal('bad_proof', 'The consistency proof does not hold.');
}

function recordOf(recorded: TreeHead | undefined): WitnessRecord {
  if (recorded === undefined) return { size: 0n, root: emptyRoot() };
  const size = wideSize(recorded.size);
  if (size !== undefined) return { size, root: recorded.root };
  throw new MerkleError(
    'bad_argument',
    'The witness has recorded a value that is not a size. Repair its store before it cosigns.',
  );
}

const STATUS = {
  malformed: 400,
  old_above_size: 400,
  unknown_log: 404,
  not_signed: 403,
  bad_signature: 403,
  stale: 409,
  proof_from_nothing: 422,
  false_empty_root: 422,
  other_root: 422,
  bad_proof: 422,
} as const satisfies Record<WitnessRefusal, number>;

function refusal(reason: WitnessRefusal, text: string): WitnessDecision {
  if (reason === 'stale')
    return { status: 409, reason, body: text, contentType: 'text/x.tlog.size' };
  return {
    status: STATUS[reason],
    reason,
    body: `${text}\n`,
    contentType: 'text/plain; charset=utf-8',
  };
}
