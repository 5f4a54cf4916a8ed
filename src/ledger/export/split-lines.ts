import { ExportError } from './errors.ts';

/** The lines of a stream of bytes. Only a newline ends one: JSON may hold every other separator as it is. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let line = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      yield decoded([...parts, chunk.subarray(start, end)], ++line);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.slice(start));
  }
  if (parts.length > 0) {
    throw new ExportError('bad_export', `Line ${line + 1} of the export is cut off.`, { evidence: { line: line + 1 } });
  }
}

function decoded(parts: readonly Uint8Array[], line: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
  } catch (cause) {
    throw new ExportError('bad_export', `Line ${line} of the export is no UTF-8.`, { evidence: { line }, cause });
  }
}
