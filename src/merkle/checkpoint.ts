import { form, requireForm } from '#base';
import { malformed } from './errors.ts';
import { emptyRoot, isHashBytes, sameHash } from './hash.ts';
import { isKeyName } from './note-key.ts';
import { type Size, wideSize } from './size.ts';
import { isNoteText, readDecimal, readHash, writeBase64 } from './strict-text.ts';

/** What a log says of itself: the text of a signed note (c2sp.org/tlog-checkpoint). */
export interface Checkpoint {
  /** Which log. */
  readonly origin: string;
  readonly size: bigint;
  readonly root: Uint8Array;
  /** Lines that no auditor looks at; none is best. */
  readonly extensions: readonly string[];
}

/** A checkpoint to be written. */
export interface CheckpointDraft {
  /** The log's own name: a URL without its scheme, without space or `+`, which is also the name of its key. */
  readonly origin: string;
  readonly size: Size;
  readonly root: Uint8Array;
  /** Default: none. */
  readonly extensions?: readonly string[];
}

/**
 * The text to be signed. It is for the caller to sign no two checkpoints of one log of which neither is the other's
 * beginning.
 * @throws MerkleError `bad_checkpoint` for an origin that could be mistaken, a size beyond 2^64-1, a root that is not 32
 * bytes, a size of 0 with another root than the empty one, or an extension line that is empty or more than a line; ArgumentError `bad_argument`
 */
export function formatCheckpoint(draft: CheckpointDraft): string {
  requireForm(form.object, draft, 'draft');
  const { origin, size, root, extensions = [] } = draft;
  requireForm(form.list(form.text), extensions, 'draft.extensions');
  if (!isKeyName(origin)) throw malformed('bad_checkpoint', 'an origin is not empty and has no space, + or newline');
  const leaves = wideSize(size);
  if (leaves === undefined) throw malformed('bad_checkpoint', 'a size is a whole number from 0 to 2^64-1');
  if (!isHashBytes(root)) throw malformed('bad_checkpoint', 'a root is 32 bytes');
  if (leaves === 0n && !sameHash(root, emptyRoot())) throw malformed('bad_checkpoint', 'size 0 has the empty root');
  if (!extensions.every(isLine)) throw malformed('bad_checkpoint', 'an extension is one line that is not empty');
  return [origin, leaves, writeBase64(root), ...extensions].map((line) => `${line}\n`).join('');
}

/**
 * Reads the text of a checkpoint. It is not verified to be anybody's: see `openCheckpoint`. Any line may be an origin, as
 * the standard says; that size 0 has the empty root is for the reader to ask.
 * @throws MerkleError `bad_checkpoint`
 */
export function parseCheckpoint(text: string): Checkpoint {
  if (!isNoteText(text) || !text.endsWith('\n')) {
    throw malformed('bad_checkpoint', 'it does not end with a newline, or has another control character');
  }
  const [origin, sizeLine, rootLine, ...extensions] = text.slice(0, -1).split('\n');
  if (
    origin === undefined ||
    sizeLine === undefined ||
    rootLine === undefined ||
    ![origin, ...extensions].every(isLine)
  ) {
    throw malformed('bad_checkpoint', 'it is not three lines or more, none of them empty');
  }
  const size = readDecimal(sizeLine);
  if (size === undefined) throw malformed('bad_checkpoint', 'the size is not a decimal number up to 2^64-1');
  const root = readHash(rootLine);
  if (root === undefined) throw malformed('bad_checkpoint', 'the root is not 32 bytes in Base64');
  return { origin, size, root, extensions };
}

function isLine(line: unknown): line is string {
  return isNoteText(line) && line !== '' && !line.includes('\n');
}
