import { type ExportedStore, exportLines } from '#export';

/** The text of an export of all entries that have a place in the log. */
export async function exportOf(store: ExportedStore): Promise<string> {
  let text = '';
  for await (const line of exportLines(store)) text += line;
  return text;
}

/** The bytes of a text in pieces of these sizes, over and over. */
export async function* piecesOf(
  text: string,
  ...sizes: readonly number[]
): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? bytes.length;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
