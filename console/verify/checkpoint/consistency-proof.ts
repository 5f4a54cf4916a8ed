import { fromBase64 } from '../bytes/text.ts';

/** A proof that a log continues an older one. */
export interface ConsistencyProof {
  readonly path: readonly Uint8Array[];
  /** The size of the older log, if the text says it. */
  readonly old?: bigint;
  /** The signed checkpoint below the proof, if the text has one. */
  readonly checkpoint?: string;
}

const MAX_HASHES = 65;

/**
 * A proof from its text: one hash a line in Base64, alone or as in the request to a witness (C2SP
 * tlog-witness, add-checkpoint). Returns the reason if the text has another form.
 */
export function readConsistency(text: string): ConsistencyProof | string {
  const end = text.indexOf('\n\n');
  const head = end === -1 ? text : text.slice(0, end);
  const checkpoint = end === -1 ? '' : text.slice(end + 2);
  const lines = head.split('\n').filter((line) => line !== '');
  const old = /^old (0|[1-9][0-9]{0,19})$/.exec(lines[0] ?? '');
  if (old !== null) lines.shift();
  const path = lines.map(fromBase64);
  if (path.length > MAX_HASHES) return 'has too many hashes';
  if (!path.every((hash) => hash?.length === 32)) return 'has a line that is not a hash in Base64';
  return {
    path: path as readonly Uint8Array[],
    ...(old !== null && { old: BigInt(old[1] as string) }),
    ...(checkpoint.trim() !== '' && { checkpoint }),
  };
}
