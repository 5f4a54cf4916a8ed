import { arg, checkArgument } from '#base';
import { malformed } from './errors.ts';
import { emptyRoot, isHashBytes, sameHash } from './hash.ts';
import { isKeyName } from './note-key.ts';
import { type Size, wideSize } from './size.ts';
import { isNoteText, readDecimal, readHash, writeBase64 } from './strict-text.ts';

/** A log's statement of its size and root: the text of a signed note (c2sp.org/tlog-checkpoint). */
export interface Checkpoint {
  /** The name of the log. */
  readonly origin: string;
  readonly size: bigint;
  readonly root: Uint8Array;
  /** Lines that auditors ignore. An empty list is best. */
  readonly extensions: readonly string[];
}

/** A checkpoint to be written. */
export interface CheckpointDraft {
  /**
   * The log's own name: a URL without its scheme, without space or `+`. It is also the name of the
   * log's key.
   */
  readonly origin: string;
  readonly size: Size;
  readonly root: Uint8Array;
  /** Default: no extensions. */
  readonly extensions?: readonly string[];
}

/**
 * The text to be signed. The caller must not sign two checkpoints of one log unless one continues
 * the other.
 *
 * @throws MerkleError `bad_checkpoint` for an ambiguous origin, a size beyond 2^64-1, a root that
 * is not 32 bytes, a size of 0 with another root than the empty one, or an extension line that is
 * empty or more than a line; ArgumentError `bad_argument`
 */
export function formatCheckpoint(draft: CheckpointDraft): string {
  checkArgument(arg.object, draft, 'draft');
  const { origin, size, root, extensions = [] } = draft;
  checkArgument(arg.list(arg.text), extensions, 'draft.extensions');
  if (!isKeyName(origin))
    throw malformed('checkpoint', 'an origin is not empty and has no space, + or newline');
  const leaves = wideSize(size);
  if (leaves === undefined)
    throw malformed('checkpoint', 'a size is a whole number from 0 to 2^64-1');
  if (!isHashBytes(root)) throw malformed('checkpoint', 'a root is 32 bytes');
  if (leaves === 0n && !sameHash(root, emptyRoot()))
    throw malformed('checkpoint', 'size 0 has the empty root');
  if (!extensions.every(isLine))
    throw malformed('checkpoint', 'an extension is one line that is not empty');
  return [origin, leaves, writeBase64(root), ...extensions].map((line) => `${line}\n`).join('');
}

/**
 * Parses the text of a checkpoint. Its origin is not verified: see `openCheckpoint`. Any line can
 * be an origin, by the standard. The reader must check that size 0 has the empty root.
 *
 * @throws MerkleError `bad_checkpoint`
 */
export function parseCheckpoint(text: string): Checkpoint {
  if (!isNoteText(text) || !text.endsWith('\n')) {
    throw malformed(
      'checkpoint',
      'it does not end with a newline, or has another control character',
    );
  }
  const [origin, sizeLine, rootLine, ...extensions] = text.slice(0, -1).split('\n');
  if (
    origin === undefined ||
    sizeLine === undefined ||
    rootLine === undefined ||
    ![origin, ...extensions].every(isLine)
  ) {
    throw malformed('checkpoint', 'it is not three lines or more, none of them empty');
  }
  const size = readDecimal(sizeLine);
  if (size === undefined)
    throw malformed('checkpoint', 'the size is not a decimal number up to 2^64-1');
  const root = readHash(rootLine);
  if (root === undefined) throw malformed('checkpoint', 'the root is not 32 bytes in Base64');
  return { origin, size, root, extensions };
}

function isLine(line: unknown): line is string {
  return isNoteText(line) && line !== '' && !line.includes('\n');
}
