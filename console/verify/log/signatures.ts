import { holds } from '../bytes/signature.ts';
import { areEqual, utf8 } from '../bytes/text.ts';
import { LOG_TYPE, type NoteKey, WITNESS_TYPE } from './key.ts';
import type { Checkpoint } from './note.ts';

const TIME_BYTES = 8;
const MAX_TIME = 2n ** 63n;

/** A cosignature of a known witness that holds. */
export interface Cosigned {
  readonly name: string;
  readonly key: string;
  /** Seconds since 1970. */
  readonly at: bigint;
}

/** Whether the log's key signed a checkpoint: at least once, and every time. */
export function isSignedBy(checkpoint: Checkpoint, key: NoteKey): boolean {
  if (key.type !== LOG_TYPE || key.name !== checkpoint.origin) return false;
  const own = signaturesOf(checkpoint, key);
  return own.length > 0 && own.every(({ bytes }) => holds(key.key, bytes, utf8(checkpoint.text)));
}

/**
 * The cosignatures of a witness. `false` if one of them does not hold. Signatures of other keys
 * are passed over.
 */
export function cosignedBy(checkpoint: Checkpoint, key: NoteKey): readonly Cosigned[] | false {
  if (key.type !== WITNESS_TYPE) return [];
  const found: Cosigned[] = [];
  for (const { bytes } of signaturesOf(checkpoint, key)) {
    const at = timeOf(bytes);
    if (at === undefined) return false;
    const message = utf8(`cosignature/v1\ntime ${at}\n${checkpoint.text}`);
    if (!holds(key.key, bytes.subarray(TIME_BYTES), message)) return false;
    found.push({ name: key.name, key: key.text, at });
  }
  return found;
}

function signaturesOf(checkpoint: Checkpoint, key: NoteKey): Checkpoint['signatures'] {
  return checkpoint.signatures.filter(({ name, id }) => name === key.name && areEqual(id, key.id));
}

function timeOf(bytes: Uint8Array): bigint | undefined {
  if (bytes.length !== TIME_BYTES + 64) return undefined;
  const at = bytes.subarray(0, TIME_BYTES).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  return at < MAX_TIME ? at : undefined;
}
