/** The kinds of files that the page tells apart by their content. */
export type FileKind = 'bundle' | 'export' | 'checkpoint' | 'consistency' | 'other';

/** The first bytes of a file that decide about its kind. */
export const HEAD_BYTES = 65_536;

/** The kind of a file, by its first bytes. */
export function kindOf(head: Uint8Array): FileKind {
  if (head[0] === 0x50 && head[1] === 0x4b) return 'bundle';
  const text = new TextDecoder().decode(head.subarray(0, HEAD_BYTES));
  if (text.startsWith('{')) return 'export';
  if (/^old \d+\n/.test(text)) return 'consistency';
  return /^[^\n]+\n\d+\n[A-Za-z0-9+/]{43}=\n/.test(text) ? 'checkpoint' : 'other';
}

/** The reason why the page cannot read a file of another kind, as a sentence. */
export function reasonFor(head: Uint8Array): string {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'The file is compressed. Unpack it first.';
  const text = new TextDecoder().decode(head.subarray(0, HEAD_BYTES));
  if (text.startsWith('c2sp.org/tlog-proof@v1\n'))
    return 'The file is the proof of one entry. Verify it with assize bundle proof --verify.';
  return 'The file is not a proof bundle (.zip), an export (JSON Lines) or a checkpoint (a signed note).';
}
