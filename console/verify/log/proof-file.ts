import { fromBase64, utf8 } from '../bytes/text.ts';

/**
 * A proof file (C2SP tlog-proof): the place of a leaf, the hashes above it, the checkpoint. In a
 * bundle it has no line `extra`.
 */
export interface ProofFile {
  readonly index: bigint;
  readonly path: readonly Uint8Array[];
  /** The whole text of the signed note. */
  readonly checkpoint: string;
}

const FIRST = 'c2sp.org/tlog-proof@v1';
const MAX_BYTES = 1_100_000;
const MAX_HASHES = 64;

/** A proof from the text of its file. Returns the reason if the text has another form. */
export function readProof(text: string): ProofFile | string {
  if (utf8(text).length > MAX_BYTES) return 'is too long';
  const end = text.indexOf('\n\n');
  if (end === -1) return 'has no empty line';
  const lines = text.slice(0, end).split('\n');
  if (lines.shift() !== FIRST) return `does not begin with ${FIRST}`;
  const index = /^index (0|[1-9][0-9]{0,19})$/.exec(lines.shift() ?? '');
  if (index === null) return 'has no index';
  const path = lines.map(fromBase64);
  if (path.length > MAX_HASHES) return 'has too many hashes';
  if (!path.every((hash) => hash?.length === 32)) return 'has a line that is not a hash';
  return {
    index: BigInt(index[1] as string),
    path: path as readonly Uint8Array[],
    checkpoint: text.slice(end + 2),
  };
}
